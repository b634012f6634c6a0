"""Documents without a judgement count by one rule, and relevant documents that were not retrieved count as missed."""

import io
import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.cli.features import alone
from rulerank.evaluation.rankings import all_judgements, left_out
from rulerank.io.formats import write_any
from rulerank.io.trec import join, with_qrels
from rulerank.recall_base import RecallBase, check_unjudged, warn_unknown_base


def make(y, qid, docid=None, **more):
    n = len(y)
    X = np.arange(n, 0, -1, dtype=float)[:, None]
    return rr.Dataset(X, y, qid, [f"d{row}" for row in range(n)] if docid is None else docid, ("bm25",), **more)


def retrieved_synthetic(seed=0, n_queries=20):
    """Candidates of queries, and judgements that list relevant documents alone, some of which were not retrieved."""
    synthetic = rr.datasets.make_ranking(n_queries=n_queries, docs_per_query=20, seed=seed)
    relevant = np.flatnonzero(synthetic.y > 0)
    qrels = rr.Qrels(synthetic.qid[relevant], synthetic.docid[relevant], synthetic.y[relevant])
    kept = np.random.default_rng(seed).random(len(synthetic)) < 0.7
    return replace(synthetic, y=np.full(len(synthetic), -1))[kept], qrels


def test_grades_without_a_zero_count_the_others_as_not_relevant_and_warn():
    with pytest.warns(
        UserWarning, match=r"no judgement has grade 0: 1 document without a judgement counts as .*unjudged='skip' in "
    ):
        found = make([1, -1, -1], ["a", "a", "b"]).labelled()
    assert found.y.tolist() == [1, 0]


def test_hardly_any_zeros_count_as_none():
    with pytest.warns(UserWarning, match="only 10% of the judgements have grade 0"):
        assert make([1] * 9 + [0, -1], ["a"] * 11).labelled().y.tolist() == [1] * 9 + [0, 0]


def test_grades_with_zeros_leave_the_others_out_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make([1, 0, -1], ["a"] * 3).labelled().y.tolist() == [1, 0]


def test_a_query_whose_relevant_documents_were_all_missed_counts():
    data = with_qrels(make([-1, -1], ["a", "b"]), rr.Qrels(["a", "b"], ["d0", "elsewhere"], [1, 1]), 0)
    assert data.labelled().y.tolist() == [1, 0]
    assert rr.evaluate(data, data.X[:, 0], measures="MAP").values.tolist() == [[1.0, 0.0]]


def test_documents_that_are_there_for_their_judgement_alone_leak_and_go():
    data = with_qrels(make([-1] * 3, ["a"] * 3), rr.Qrels(["a", "a"], ["d0", "d2"], [1, 1]), 0, np.array([0, 0, 1]) > 0)
    assert data.labelled().docid.tolist() == ["d0", "d1"]
    assert data.labelled("skip").docid.tolist() == ["d0", "d2"]


def test_what_a_file_was_written_with_is_kept_unless_something_else_is_said():
    qrels, blank = rr.Qrels(["a", "a"], ["d0", "d1"], [1, 1]), make([-1] * 3, ["a"] * 3)
    skipped, zero = with_qrels(blank, qrels, "skip"), with_qrels(blank, qrels, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert skipped.labelled().y.tolist() == [1, 1]
        assert zero.labelled().y.tolist() == [1, 1, 0]
    assert skipped.labelled(0).y.tolist() == [1, 1, 0]
    assert zero.labelled("skip").y.tolist() == [1, 1]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_tables_keep_the_recall_base(ending, tmp_path):
    qrels = rr.Qrels(["a", "a", "a"], ["d0", "d2", "elsewhere"], [2, 1, -1])
    data = with_qrels(make([-1] * 3, ["a"] * 3), qrels, 0, np.array([0, 0, 1]) > 0)
    rr.io.write_table(data, tmp_path / f"pool.{ending}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = rr.read_table(tmp_path / f"pool.{ending}")
    assert again.feature_names == ("bm25",)
    assert again.base.grades.tolist() == ["0:1 1:1 2:1"] * 3
    assert again.base.judged.tolist() == [True, False, True]
    assert again.base.extra.tolist() == [False, False, True]
    assert again.labelled().docid.tolist() == ["d0", "d1"]


@pytest.mark.parametrize(("columns", "message"), [
    ({"judged:qrels": ["perhaps"], "base:qrels": [""]}, "expected yes, no or extra in column 'judged:qrels'"),
    ({"judged:qrels": ["yes"], "base:qrels": ["1=3"]}, "column 'base:qrels': expected how many judged documents"),
    ({"judged:qrels": ["yes"], "base:qrels": ["99:3"]}, "column 'base:qrels': expected how many judged documents"),
    ({"judged:qrels": ["yes"]}, "go together: there is only judged:qrels"),
])  # fmt: skip
def test_damaged_columns_are_named(columns, message):
    with pytest.raises(rr.errors.DataError, match=message):
        rr.from_frame(pl.DataFrame({"qid": ["a"], "grade": [1], "x": [1.0]} | columns))


def test_wrong_words_are_refused():
    with pytest.raises(rr.errors.DataError, match=r"unjudged must be 0.*got 'never'"):
        check_unjudged("never")
    with pytest.raises(rr.errors.DataError, match="unjudged is for a Dataset"):
        rr.evaluate([1], [0.5], ["a"], unjudged=0)
    with pytest.raises(rr.errors.DataError, match="extra must have one entry per row"):
        RecallBase([True], [True, False], [""])
    with pytest.raises(rr.errors.DataError, match="base must have one entry per row"):
        make([1, 0], ["a", "a"], base=RecallBase([True], [False], [""]))


def test_judgements_of_other_queries_are_a_mistake():
    with pytest.raises(rr.errors.DataError, match="no query of the judgements is among the documents"):
        with_qrels(make([-1], ["a"]), rr.Qrels(["b"], ["d0"], [1]))


@pytest.mark.parametrize("measures", [["MAP", "NDCG@10", "NDCG", "P@5", "R@10", "MeanNDCG"]])
def test_data_with_a_recall_base_measure_as_a_run_beside_its_qrels_does(measures):
    data, qrels = retrieved_synthetic()
    scores = data.X[:, 0].astype(float)
    run = rr.io.run_from_scores(data, scores)
    expected = rr.evaluate(run, qrels, measures=measures)
    found = rr.evaluate(with_qrels(data, qrels, 0), scores, measures=measures)
    assert found.means == pytest.approx(expected.means, abs=1e-12)
    alone = rr.evaluate(rr.Dataset(data.X, with_qrels(data, qrels, 0).y.clip(0), data.qid), scores, measures="MAP")
    assert alone.means["MAP"] > expected.means["MAP"] + 0.01  # without the base: what was missed is forgotten


def test_a_run_beside_data_with_a_recall_base_counts_what_both_missed():
    data, qrels = retrieved_synthetic()
    run = rr.io.run_from_scores(data, data.X[:, 0].astype(float))
    assert len(all_judgements(with_qrels(data, qrels, 0))) == len(qrels)
    assert rr.evaluate(run, with_qrels(data, qrels, 0)).means == pytest.approx(rr.evaluate(run, qrels).means)


def test_a_run_may_leave_out_documents_without_a_judgement():
    run = rr.Run(["a"] * 3, ["x", "y", "z"], [3.0, 2.0, 1.0], ["me"] * 3)
    qrels = rr.Qrels(["a", "a"], ["y", "z"], [0, 1])
    assert join(run, qrels, unjudged="skip").docid.tolist() == ["y", "z"]
    assert rr.evaluate(run, qrels, measures="MRR").means == {"MRR": pytest.approx(1 / 3)}
    assert rr.evaluate(run, qrels, measures="MRR", unjudged="skip").means == {"MRR": 0.5}


def test_cross_validation_counts_what_was_missed():
    blank, qrels = retrieved_synthetic(n_queries=60)
    data = with_qrels(blank, qrels, 0).labelled()
    without = replace(data, base=None)
    grid = {"l2": [1.0]}
    ranker = rr.QueryIntercepts(missing="mean")
    real, too_good = (rr.select(one, ranker, grid, n_splits=3).table[0].mean for one in (data, without))
    assert real < too_good - 0.01


def test_parts_of_data_keep_their_base():
    data, qrels = retrieved_synthetic()
    made = with_qrels(data, qrels, 0)
    again = rr.Dataset.concat([made[:5], made[5:]])
    assert again.base.grades.tolist() == made.base.grades.tolist()
    mixed = rr.Dataset.concat([made, replace(data, y=np.zeros(len(data)))])
    assert mixed.base.judged[len(data) :].all()
    assert (mixed.base.grades[len(data) :] == "").all()


def test_the_recall_base_is_not_known_where_documents_were_retrieved():
    data = make([1, 0, -1], ["a"] * 3)
    with pytest.warns(UserWarning, match=r"pool.csv: the recall base is not known"):
        warn_unknown_base("pool.csv", data.base, data.counted_rows(), data.feature_names)
    whole = make([1, 0], ["a"] * 2)
    with pytest.warns(UserWarning, match="the recall base is not known"):
        warn_unknown_base("pool.csv", None, whole.counted_rows(), ("bm25", "engine_rank"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unknown_base("letor.txt", None, whole.counted_rows(), whole.feature_names)


def test_qrels_of_data_hold_what_was_judged():
    data = with_qrels(make([-1, -1], ["a", "a"]), rr.Qrels(["a"], ["d0"], [1]), 0)
    out = io.BytesIO()
    write_any(data, out, "qrels")
    assert out.getvalue() == b"a 0 d0 1\n"


def test_grades_that_are_not_those_of_the_recall_base_are_a_mistake():
    data = with_qrels(make([-1] * 3, ["a"] * 3), rr.Qrels(["a"] * 3, ["d0", "d1", "d2"], [2, 0, 2]))
    binary = replace(data, y=np.minimum(data.y, 1))
    scores = np.array([3.0, 1.0, 2.0])
    message = r"query of row 0 has 2 judged documents of grade 1, and its recall base '0:1 2:2'; .*base=None\), of a"
    with pytest.raises(rr.errors.DataError, match=message):
        rr.evaluate(binary, scores, measures="MAP")
    assert rr.evaluate(replace(binary, base=None), scores, measures="MAP").means == {"MAP": 1.0}


def test_rows_without_a_known_base_do_not_disagree_with_that_of_others():
    judged = with_qrels(make([-1] * 2, ["a"] * 2), rr.Qrels(["a"] * 3, ["d0", "d1", "gone"], [1, 0, 1]))
    both = rr.Dataset.concat([judged, make([1, 0], ["b"] * 2)])
    assert rr.evaluate(both, [2.0, 1.0, 2.0, 1.0], measures="MAP").values.tolist() == [[0.5, 1.0]]


def without_candidates():
    """Query a has candidates, one of them relevant; the rows of b and c are there for their judgement alone."""
    base = RecallBase([1, 0, 1, 1], [0, 0, 1, 1], ["1:1", "1:1", "1:1", "0:1"])
    return make([1, 0, 1, 0], ["a", "a", "b", "c"], base=base)


def test_a_query_without_candidates_counts_0_where_it_has_relevant_documents():
    data = without_candidates()
    found = rr.evaluate(data, data.X[:, 0], measures="MAP")
    assert (found.queries.tolist(), found.values.tolist()) == (["a", "b"], [[1.0, 0.0]])
    counting = data.counted_rows()
    assert (counting.n_missed_queries, counting.n_queries, counting.n_extra) == (1, 0, 2)
    texts = [remark.text for remark in left_out(counting)]
    assert texts == ["2 documents count as missed: not among the candidates", "1 query without candidates counts 0"]
    assert alone(data)[0]["NDCG@10"] == 0.5


def test_extra_documents_go_with_unjudged_0_even_where_every_row_is_judged():
    data = make([0, 1], ["a", "a"], base=RecallBase([True, True], [False, True], ["0:1 1:1"] * 2))
    assert data.labelled(0).docid.tolist() == ["d0"]
    assert data.labelled().docid.tolist() == data.labelled("skip").docid.tolist() == ["d0", "d1"]
    two = replace(rr.Dataset.concat([data, data]), qid=["a", "a", "b", "b"])
    columns = {"one": two.X[:, 0], "two": -two.X[:, 0]}
    assert rr.compare(two, columns, measures="MAP", unjudged=0).results["two"].means == {"MAP": 0.0}
    assert data.counted_rows().unjudged is None
