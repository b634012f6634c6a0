"""Table I of the query-level rules paper: nine graded documents of three queries, and three to rank."""

import numpy as np

PAGERANK = {".51-.64": 0, ".65-.73": 1, ".74-.84": 2, ".85-.92": 3, ".93-1.0": 4}
BM25 = {".00-.21": 0, ".22-.35": 1, ".36-.55": 2, ".56-.70": 3, ".71-.80": 4}
TF = {".12-.22": 0, ".23-.27": 1, ".28-.45": 2, ".46-.61": 3, ".62-.76": 4}
TABLE = """
.85-.92 .36-.55 .23-.27 1 q1
.74-.84 .36-.55 .23-.27 1 q1
.74-.84 .56-.70 .46-.61 0 q1
.93-1.0 .36-.55 .46-.61 0 q2
.85-.92 .56-.70 .62-.76 1 q2
.74-.84 .36-.55 .28-.45 0 q2
.74-.84 .22-.35 .12-.22 0 q3
.65-.73 .56-.70 .46-.61 0 q3
.85-.92 .71-.80 .46-.61 1 q3
.51-.64 .36-.55 .28-.45 ? q4
.85-.92 .00-.21 .46-.61 ? q4
.74-.84 .56-.70 .46-.61 ? q4
"""
_rows = [line.split() for line in TABLE.split("\n") if line]
_bins = np.array([[PAGERANK[a], BM25[b], TF[c]] for a, b, c, _, _ in _rows])

X, y, qid = _bins[:9], np.array([int(row[3]) for row in _rows[:9]]), np.array([row[4] for row in _rows[:9]])
d10, d11, d12 = _bins[9:]
