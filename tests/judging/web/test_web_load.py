"""Eight raters at once through the real server: no label is lost and no document handed out twice, kills or not."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import httpx

from forked_servers import SERVERS
from rulerank.judging.store import LabelStore

N_RATERS = 8
N_KILLS = 4


class Raters:
    """Eight who judge at once, as fast as the server answers; what fails on the way is sent again, as the page does."""

    def __init__(self, url):
        self.url = url
        self.handed = defaultdict(set)  # (query, doc) -> raters who were shown it
        self.acknowledged = []
        self.over = False
        self.at_work = []

    def start(self):
        threads = ThreadPoolExecutor(N_RATERS)
        self.at_work = [threads.submit(self.judge, f"rater-{number}") for number in range(N_RATERS)]
        threads.shutdown(wait=False)

    def join(self):
        for rater in self.at_work:
            rater.result()

    def judge(self, rater):
        with httpx.Client(base_url=self.url, timeout=120, params={"rater": rater, "keep_going": "true"}) as client:
            task = self.ask(client, rater, "GET", "/api/next")["task"]
            while task is not None and not self.over:
                judged = {"query": task["query"], "doc": task["doc"], "grade": len(task["doc"]) % 3}
                press = judged | {"judgement": f"{rater} {len(self.acknowledged)} {time.monotonic_ns()}"}
                answer = self.ask(client, rater, "POST", "/api/labels", json=press)
                self.acknowledged.append({"id": answer["label"]["id"], "rater": rater} | judged)
                task = self.ask(client, rater, "GET", "/api/next")["task"]
                assert task == answer["task"] or answer["task"] is None

    def ask(self, client, rater, method, path, **options):
        patience = time.monotonic() + 120
        while True:
            try:
                response = client.request(method, path, **options)
                break
            except httpx.TransportError:
                if time.monotonic() > patience:
                    raise
                time.sleep(0.01)
        assert response.status_code == 200, response.text
        answer = response.json()
        if answer["task"] is not None:
            self.handed[answer["task"]["query"], answer["task"]["doc"]].add(rater)
        return answer


def facts(store):
    return [
        {"id": label.id, "rater": label.rater, "query": label.query, "doc": label.doc, "grade": label.grade}
        for label in store.labels()
    ]


def by_id(acknowledged):
    return sorted(acknowledged, key=lambda label: label["id"])


def test_eight_raters_at_once_judge_a_pool_to_its_end(serve, make_pool):
    served = serve(make_pool(n_queries=8, docs_per_query=10), overlap=0.3)
    raters = Raters(served.url)
    raters.start()
    raters.join()
    assert by_id(raters.acknowledged) == facts(served.judging.store)
    assert [label["id"] for label in by_id(raters.acknowledged)] == [*range(1, len(raters.acknowledged) + 1)]
    assert set(raters.handed) == set(served.judging.pool.rows)
    assert max(len(shown_to) for shown_to in raters.handed.values()) == 2
    assert sum(len(shown_to) for shown_to in raters.handed.values()) == len(raters.acknowledged)


def test_kills_of_the_server_under_load_lose_nothing_and_hand_out_nothing_twice(tmp_path):
    rng = random.Random(5)
    call = [sys.executable, "-c", SERVERS, tmp_path / "labels.db"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as servers:
        raters = Raters(servers.stdout.readline().strip())

        def start():
            servers.stdin.write("\n")
            return int(servers.stdout.readline())

        server = start()
        raters.start()
        try:
            for kill in range(N_KILLS):
                n_before = len(raters.acknowledged)
                while kill % 4 and len(raters.acknowledged) < n_before + 5:  # else it may be killed as it starts
                    assert not any(rater.done() for rater in raters.at_work)
                    time.sleep(0.01)
                time.sleep(rng.expovariate(1 / 0.05))
                os.kill(server, signal.SIGKILL)
                server = start()
            raters.over = True
            raters.join()
        finally:
            raters.over = True
            os.kill(server, signal.SIGKILL)
            servers.stdin.close()
    with LabelStore(tmp_path / "labels.db") as store:
        kept = facts(store)
        assert len(kept) == len(store.history())  # a grade sent twice is one label
    assert len(kept) > 5 * N_KILLS / 2
    assert by_id(raters.acknowledged) == kept
    assert len({(label["query"], label["doc"]) for label in kept}) == len(kept)
    assert {len(shown_to) for shown_to in raters.handed.values()} == {1}
