"""What is said of a click log, and clicks as grades."""

import io

import numpy as np
import pytest

import rulerank as rr
from rulerank.clicks.grades import grade_by_clicks
from rulerank.clicks.summary import summarise_clicks
from rulerank.errors import DataError
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import import_labels
from rulerank.render import render_text

POOL = rr.Dataset([[0.5], [0.1], [0.9]], [-1, -1, -1], ["q1", "q1", "q2"], docid=["a", "b", "z"])


def summary_of(rows, pool=None):
    counts = rr.ClickCounts(*zip(*rows, strict=True))
    match = None if pool is None else counts.match(pool)
    return summarise_clicks(counts, match, n_pool=0 if pool is None else len(pool))


def test_positions_that_count_from_the_bottom_are_remarked():
    world = rr.make_ranking(n_queries=30, n_features=2, seed=0)
    seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=3000, seed=0)
    lines = [
        f"{q},d{row},{11 - p},{n},{c}"
        for row, (q, p, n, c) in enumerate(
            zip(seen.qid, seen.shown.position, seen.shown.impressions, seen.shown.clicks, strict=True)
        )
    ]
    log = "query,doc,position,impressions,clicks\n" + "\n".join(lines)
    remarks = summarise_clicks(rr.read_clicks(io.StringIO(log))).remarks()
    assert remarks[-1].startswith("position 10 is clicked more often than position 1 (0.")
    assert remarks[-1].endswith("positions must count from the top of the list")


def test_a_summary_counts_what_the_pool_knows_and_what_moves():
    rows = [("q1", "a", 1, 60, 12), ("q1", "a", 2, 20, 2), ("q1", "b", 2, 10, 0), ("q3", "c", 1, 10, 1)]
    found = summary_of(rows, POOL)
    assert found.sentences() == [
        "2 queries, 3 documents (pairs of query and document), 2 positions; 100 impressions, 15 clicks (15.0 %).",
        "In the pool, by the queries' id: 1 of the queries, 2 of the documents; 33.3 % of the documents and 10.0 % of "
        "the impressions have no features.",
        "1 document of the pool never shown, and left out.",
        "Seen at more than one position: 1 of 2 documents (50.0 %).",
    ]
    assert found.remarks() == []
    assert [(one.position, one.impressions, one.clicks) for one in found.positions] == [(1, 70, 13), (2, 30, 2)]
    assert found.to_dict()["pool"]["impressions"] == 90
    text = render_text(found.page())
    assert "\n1                  70      13  0.000 to 1.000       0.186\n" in text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [("q", "a", 3, 5, 1), ("q", "b", 3, 5, 0)],
            "all impressions are at position 3: what a position adds to clicks",
        ),
        ([("q", "a", 1, 5, 1), ("q", "b", 2, 5, 0)], "no document was seen at more than one position: what a position"),
        ([("q", "a", 1, 5, 0), ("q", "a", 2, 5, 0)], "nothing was ever clicked: there is nothing to learn from"),
        (
            [("q", "a", 1, 5, 5), ("q", "a", 2, 5, 5)],
            "every impression was clicked: the log seems to lack what was shown",
        ),
    ],
)
def test_a_log_that_teaches_little_says_so(rows, message):
    found = summary_of(rows)
    assert found.remarks()[0].startswith(message)
    assert message[1:] in " ".join(render_text(found.page()).split())


def test_many_positions_are_cut_in_the_table_and_whole_in_the_figures():
    found = summary_of([("q", "a", position, 5, 1) for position in range(1, 31)])
    assert "10 positions further down not shown." in " ".join(render_text(found.page()).split())
    assert len(found.to_dict()["positions"]) == 30


def clicked_world(move, seed=0):
    """A position-based world of 40 queries with known appeals; with `move`, documents change places."""
    rng = np.random.default_rng(seed)
    rows, appeal = [], {}
    for query in range(40):
        own = rng.beta(1, 3, size=10)
        appeal |= {(f"q{query}", f"d{doc}"): own[doc] for doc in range(10)}
        orders = [rng.permutation(10) for _ in range(10)] if move else [np.argsort(-own)]
        for order in orders:
            for place, doc in enumerate(order, 1):
                n = 400 // len(orders)
                rows.append((f"q{query}", f"d{doc}", place, rng.binomial(n, own[doc] / place), n))
    counts = rr.ClickCounts.add_up(*zip(*rows, strict=True))
    docs = [*appeal]
    pool = rr.Dataset(np.zeros((len(docs), 1)), [-1] * len(docs), [q for q, _ in docs], docid=[d for _, d in docs])
    return counts.join(pool), appeal


def test_grades_by_clicks_follow_the_appeal_whatever_the_position():
    data, appeal = clicked_world(move=True)
    found = grade_by_clicks(data)
    true = np.array([appeal[data.qid[row], data.docid[row]] for row in found.rows])
    means = [true[found.grades == grade].mean() for grade in (0, 1, 2)]
    mean = 1 / 4  # of Beta(1, 3)
    assert means[0] < mean < means[1] < 2**0.5 * mean < means[2]
    assert np.corrcoef(found.appeal, true)[0, 1] > 0.95


def test_without_movement_a_document_is_compared_with_those_at_its_place():
    data, _ = clicked_world(move=False)
    found = grade_by_clicks(data)
    rates = np.bincount(data.shown.position, data.shown.clicks) / np.maximum(
        np.bincount(data.shown.position, data.shown.impressions), 1
    )
    assert np.allclose(found.expected, data.shown.impressions * rates[data.shown.position], rtol=0.15)


def test_a_document_that_was_shown_little_has_no_grade():
    counts = rr.ClickCounts(["q1", "q1"], ["a", "b"], [1, 1], [1000, 2], [300, 1])
    found = grade_by_clicks(counts.join(POOL))
    assert found.grades.tolist()[1] == -1
    assert found.sentence().endswith("1 document shown too little for a grade")


@pytest.mark.parametrize(("highest", "cuts"), [(1, (1.0,)), (2, (1.0, 2**0.5)), (3, (1.0, 2**0.5, 2.0))])
def test_grades_begin_at_what_is_expected_and_go_on_by_the_root_of_two(highest, cuts):
    data, _ = clicked_world(move=True)
    assert grade_by_clicks(data, highest).cuts == pytest.approx(cuts)


def test_the_highest_grade_is_that_of_the_pools_labels():
    counts = rr.ClickCounts(["q1"], ["a"], [1], [1000], [300])
    assert len(grade_by_clicks(counts.join(rr.Dataset([[0.5]], [4], ["q1"], docid=["a"]))).cuts) == 4


def test_grades_need_clicks_and_a_scale():
    with pytest.raises(DataError, match="expected documents with impressions and clicks: join a pool with a click log"):
        grade_by_clicks(POOL)
    data, _ = clicked_world(move=False)
    with pytest.raises(DataError, match="the highest grade must be a whole number from 1 to 31: got 0"):
        grade_by_clicks(data, 0)


def test_a_label_store_takes_clicks_in_as_a_rater_of_their_own(tmp_path):
    data, _ = clicked_world(move=True)
    table = grade_by_clicks(data).table(data)
    table.write_csv(tmp_path / "clicks.csv")
    with LabelStore(tmp_path / "labels.db") as store:
        assert import_labels(store, tmp_path / "clicks.csv", "someone") == len(table) == 400
        assert {label.rater for label in store.labels()} == {"clicks"}


def test_the_figure_is_drawn_with_intervals():
    pytest.importorskip("matplotlib")
    from rulerank.clicks.summary import rates_figure

    axis = rates_figure(summary_of([("q", "a", 1, 50, 20), ("p", "a", 2, 50, 5)]).positions).axes[0]
    assert axis.lines[0].get_ydata().tolist() == [0.4, 0.1]
    assert axis.collections[0].get_segments()[0][:, 1].tolist() == [0.0, 1.0]
