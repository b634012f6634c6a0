"""An experiment keeps what is finished, tells what failed, and gives the same figures whatever happens meanwhile."""

from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError
from rulerank.experiment.run import run_experiment
from rulerank.experiment.systems import Rank, choose_systems

FOLDS = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=3)


def test_every_system_scores_every_test_document_of_every_fold():
    found = run_experiment(FOLDS, ["GlobalRules", "Best feature", "QueryIntercepts, tuned"])
    assert [system.name for system in found.complete][-1] == "QueryIntercepts, tuned"
    for number, fold in enumerate(FOLDS):
        expected = rr.GlobalRules().fit(fold.train).predict(fold.test)
        np.testing.assert_array_equal(found.cells["GlobalRules", number].test, expected)


def test_a_cell_runs_again_only_if_it_failed_or_what_it_depends_on_has_changed(tmp_path, monkeypatch):
    folds, systems = FOLDS[:2], {"a": First(), "bad": First("badly")}
    ran = []
    run = Rank.run
    monkeypatch.setattr(Rank, "run", lambda self, fold, measure: ran.append(fold.name) or run(self, fold, measure))

    def n_run(folds=folds, measure="MAP", **changed):
        ran.clear()
        found.append(run_experiment(folds, systems | changed, out=tmp_path, measure=measure))
        return len(ran)

    found = []
    assert [n_run(), n_run(), n_run(a=First(sign=-1.0)), n_run(a=First(sign=-1.0))] == [4, 2, 4, 2]
    for place, scores in found[0].cells.items():
        np.testing.assert_array_equal(found[1].cells[place].test, scores.test)
        assert found[1].cells[place].fit_seconds == scores.fit_seconds
    changed = replace(folds[0], train=replace(folds[0].train, X=folds[0].train.X + 1))
    assert [n_run([changed, folds[1]]), n_run(measure="NDCG@10")] == [3, 4]
    for file in tmp_path.rglob("output.pkl"):
        file.write_bytes(file.read_bytes()[:20])
    assert n_run() == 4, "damaged files"
    monkeypatch.setattr("inspect.getsource", lambda kind: "class First: ...")
    assert n_run() == 4, "the user edited the ranker"
    monkeypatch.setattr("rulerank.experiment.run.library_code", lambda: "other")
    assert n_run() == 4, "the library changed"


def test_a_failed_system_does_not_stop_the_others():
    systems = {"good": First(), "bad": First("badly"), "skipped": First("package")}
    found = run_experiment(FOLDS, systems)
    assert [system.name for system in found.complete] == ["good"]
    assert found.failures["bad", 1].reason.startswith("ValueError: no luck today (fit, line")
    assert "pip install 'rulerank[compare]'" in found.failures["skipped", 0].reason
    assert {place[0] for place, failure in found.failures.items() if failure.skipped} == {"skipped"}


def test_scores_that_are_no_numbers_are_a_failure_of_their_system_alone():
    folds = [replace(fold, test=replace(fold.test, X=np.full_like(fold.test.X, 1e30))) for fold in FOLDS]
    found = run_experiment(folds, {"good": First(), "bad": First(sign=np.float64(1e300))})
    assert [system.name for system in found.complete] == ["good"]
    assert "its scores are not all finite numbers" in found.failures["bad", 0].reason


def test_processes_give_the_same_scores():
    good = choose_systems(["QueryIntercepts"])
    alone, found = (run_experiment(FOLDS, good, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(found.cells["QueryIntercepts", 0].test, alone.cells["QueryIntercepts", 0].test)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (First("process"), "a process ended: out of memory, or a crash; use fewer processes .*, the cells in .* kept"),
        (First(sign=Lock()), "^a ranker cannot be sent to another process, use one job: "),
    ],
)
def test_a_process_that_dies_ends_the_experiment_with_advice(tmp_path, ranker, message):
    with pytest.raises(DataError, match=message):
        run_experiment(FOLDS, {"good": First(), "bad": ranker}, out=tmp_path, n_jobs=2)


def test_parameters_are_chosen_on_vali_and_never_see_a_grade_of_test():
    fold = FOLDS[0]
    hidden = replace(fold, test=replace(fold.test, y=np.zeros_like(fold.test.y)))
    seen, blind = (run_experiment([one]) for one in (fold, hidden))
    assert not seen.failures
    for place, scores in seen.cells.items():
        np.testing.assert_array_equal(blind.cells[place].test, scores.test, err_msg=str(place))
        assert blind.cells[place].params == scores.params


EMPTY = FOLDS[0].train[:0]
UNGRADED = replace(FOLDS[0].test, y=np.full(len(FOLDS[0].test), -1))


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([], "expected folds, such as"),
        ([FOLDS[0]] * 2, "folds must have different names: got Fold1, Fold1"),
        ([replace(FOLDS[0], vali=EMPTY)], "Fold1: vali has no documents"),
        ([replace(FOLDS[0], test=UNGRADED)], "Fold1: every document of test must have a grade"),
    ],
)
def test_folds_that_nothing_can_be_learned_from_are_refused(folds, message):
    with pytest.raises(DataError, match=message):
        run_experiment(folds, ["QueryIntercepts"])


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    Path(tmp_path, "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write to .*file"):
        run_experiment(FOLDS, ["QueryIntercepts"], out=tmp_path / "file")
