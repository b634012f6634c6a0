"""Runs are measured beside judgements of any kind."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.io.formats import write_any

DATA = rr.datasets.make_ranking(n_queries=6, docs_per_query=8, n_features=4)
SCORES = np.nan_to_num(DATA.X[:, 0])
RUN = rr.io.run_from_scores(DATA, SCORES, "bm25")
QRELS = rr.Qrels(DATA.qid, DATA.docid, DATA.y.astype(int))


def test_a_run_of_all_documents_has_the_figures_of_its_scores():
    expected = rr.evaluate(DATA.y, SCORES, DATA.qid).means
    for judged in (QRELS, DATA):
        assert rr.evaluate(RUN, judged).means == pytest.approx(expected)


def test_runs_and_judgements_may_be_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rr.io.write_run(RUN, "x.run")
    rr.io.write_qrels(QRELS, "qrels.txt")
    write_any(DATA, "judged.csv")
    write_any(DATA, "judged.txt")
    (tmp_path / "scores.csv").write_text(
        "qid,docid,score\n" + "".join(f"{q},{d},{s}\n" for q, d, s in zip(RUN.qid, RUN.docid, RUN.score, strict=True))
    )
    expected = rr.evaluate(RUN, QRELS).means
    for run in ("x.run", "scores.csv"):
        for judged in ("qrels.txt", "judged.csv", "judged.txt"):
            assert rr.evaluate(run, judged).means == pytest.approx(expected), (run, judged)


def test_a_judged_query_that_the_run_lacks_is_told_or_counts_0():
    some = RUN.qid != "q1"
    run = rr.Run(RUN.qid[some], RUN.docid[some], RUN.score[some], RUN.tag[some])
    left_out, counted = (rr.evaluate(run, QRELS, measures="MAP", complete=complete) for complete in (False, True))
    assert (left_out.n_queries, counted.n_queries) == (5, 6)
    assert "1 of 6 judged queries are not in the run: they are not counted; complete=True counts them 0" in repr(
        left_out
    )
    assert "1 of 6 judged queries are not in the run: they count 0" in repr(counted)
    assert counted.means["MAP"] == pytest.approx(left_out.means["MAP"] * 5 / 6)
    assert left_out.to_dict()["n_queries_not_in_run"] == 1


def test_a_run_comes_before_its_judgements():
    for pair in ((RUN, RUN), (QRELS, QRELS), (QRELS, RUN)):
        with pytest.raises(DataError, match=r"expected a run, then judgements: evaluate\(run, qrels\)"):
            rr.evaluate(*pair)


def test_a_run_has_its_queries_with_it_and_alone_can_lack_some():
    with pytest.raises(DataError, match=r"a run includes its queries and ids: name the rest, evaluate\("):
        rr.evaluate(RUN, QRELS, "MAP")
    with pytest.raises(DataError, match=r"complete is for a run, which may lack queries: evaluate\(run"):
        rr.evaluate(DATA, SCORES, complete=True)


def test_a_data_set_has_its_queries_with_it():
    assert rr.evaluate(DATA, SCORES).means == rr.evaluate(DATA.y, SCORES, DATA.qid).means
    assert rr.evaluate(DATA, SCORES, measures="MAP", ties="docid").ties == "docid"
    for call in (lambda: rr.evaluate(DATA, SCORES, DATA.qid), lambda: rr.evaluate(DATA, SCORES, ["MAP"])):
        with pytest.raises(
            DataError, match=r"a Dataset includes its queries: leave out qid, .* evaluate\(data, scores, measures"
        ):
            call()
    with pytest.raises(DataError, match="expected qid, the query of each document; a Dataset includes it"):
        rr.evaluate(DATA.y, SCORES)


def test_compare_takes_grades_or_a_data_set_first():
    rankings, measures = {"a": SCORES, "b": -SCORES}, ["MAP", "P@1"]
    by_grades, by_data = rr.compare(DATA.y, rankings, DATA.qid, measures), rr.compare(DATA, rankings, measures=measures)
    assert by_grades.pairs == by_data.pairs
