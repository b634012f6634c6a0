"""What is said of a click log."""

import io

import polars as pl

import rulerank as rr
from rulerank.clicks.summary import summarise_clicks
from rulerank.render.text import render_text

POOL = rr.Dataset([[0.5], [0.1], [0.9]], [-1, -1, -1], ["q1", "q1", "q2"], docid=["a", "b", "z"])


def summary_of(rows, pool=None):
    names = ["query", "doc", "position", "impressions", "clicks"]
    counts = rr.clicks.read_clicks(pl.DataFrame(rows, names, orient="row"))
    match = None if pool is None else counts.match(pool)
    return summarise_clicks(counts, match, n_pool=0 if pool is None else len(pool))


def test_positions_that_count_from_the_bottom_are_remarked():
    synthetic = rr.datasets.make_ranking(n_queries=30, n_features=2, seed=0)
    seen = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=3000, seed=0)
    lines = [
        f"{q},d{row},{11 - p},{n},{c}"
        for row, (q, p, n, c) in enumerate(
            zip(seen.qid, seen.impressions.position, seen.impressions.count, seen.impressions.clicks, strict=True)
        )
    ]
    log = "query,doc,position,impressions,clicks\n" + "\n".join(lines)
    remarks = summarise_clicks(rr.clicks.read_clicks(io.StringIO(log))).remarks()
    assert remarks[-1].startswith("position 10 is clicked more often than position 1 (0.")
    assert remarks[-1].endswith("positions must count from the top of the list")


def test_a_summary_counts_what_the_pool_knows_and_what_moves():
    rows = [("q1", "a", 1, 60, 12), ("q1", "a", 2, 20, 2), ("q1", "b", 2, 10, 0), ("q3", "c", 1, 10, 1)]
    found = summary_of(rows, POOL)
    assert found.sentences() == [
        "2 queries, 3 documents (pairs of query and document), 2 positions; 100 impressions, 15 clicks (15.0 %).",
        "In the pool, matched by query id: 1 of the queries, 2 of the documents; 33.3 % of the documents and 10.0 % of "
        "the impressions have no features.",
        "1 document of the pool never shown, and left out.",
        "Seen at more than one position: 1 of 2 documents (50.0 %).",
    ]
    assert found.remarks() == []
    assert [(one.position, one.impressions, one.clicks) for one in found.positions] == [(1, 70, 13), (2, 30, 2)]
    assert found.to_dict()["pool"]["impressions"] == 90
    text = render_text(found.page())
    assert "\n1                  70      13  0.000 to 1.000       0.186\n" in text
