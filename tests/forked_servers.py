"""A program that serves a judging page again and again, for tests that kill the server."""

# Each line on stdin starts a server, a child of a process that has loaded everything; the address stays the same.
SERVERS = """
import os, sys
import rulerank as rr
from rulerank.judging.web.app import create_app
from rulerank.web.server import make_server, open_socket, url_of

pool = rr.judging.Pool(rr.datasets.make_ranking(n_queries=30, docs_per_query=40, n_features=4, seed=1))
rr.SSAR(per_query=True).begin(pool.data.X, qid=pool.data.qid).add(0, 1)  # loads the compiled loops
listening = open_socket("127.0.0.1", 0)
print(url_of(listening), flush=True)
for _ in sys.stdin:
    child = os.fork()
    if not child:
        judging = rr.judging.Judging(pool, rr.judging.LabelStore(sys.argv[1]), max_grade=2)
        make_server(create_app(judging)).run(sockets=[listening])
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
"""
