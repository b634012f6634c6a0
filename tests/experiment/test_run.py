"""An experiment keeps what is finished, tells what failed, and gives the same figures whatever happens meanwhile."""

import signal
import subprocess
import sys
from dataclasses import replace
from threading import Lock

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.plans import Rank
from rulerank.experiment.report import make_report
from rulerank.experiment.run import run_experiment
from rulerank.experiment.systems import System, choose_systems

FOLDS = rr.make_folds(rr.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=3)


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_every_system_scores_every_test_document_of_every_fold():
    found = run_experiment(FOLDS, ["RE-GR", "Best feature", "QI+"])
    assert [system.name for system in found.complete][-1] == "QI+"
    for number, fold in enumerate(FOLDS):
        expected = rr.GlobalRules(votes="mean", drop_weakest=0.0).fit(fold.train).predict(fold.test)
        np.testing.assert_array_equal(found.cells["RE-GR", number].test, expected)


def test_a_second_run_takes_everything_from_the_directory(tmp_path):
    first = run_experiment(FOLDS, ["RE-GR", "QI"], out=tmp_path)
    before = files(tmp_path)
    second = run_experiment(FOLDS, ["RE-GR", "QI"], out=tmp_path)
    assert (first.n_reused, second.n_reused) == (0, 6)
    assert files(tmp_path) == before
    for place, scores in first.cells.items():
        np.testing.assert_array_equal(second.cells[place].test, scores.test)
        assert second.cells[place].fit_seconds == scores.fit_seconds


def test_a_changed_parameter_runs_only_its_own_cells_again(tmp_path):
    run_experiment(FOLDS, {"a": First(), "b": First()}, out=tmp_path)
    again = run_experiment(FOLDS, {"a": First(), "b": First(sign=-1.0)}, out=tmp_path)
    assert again.n_reused == 3
    assert len(files(tmp_path)) == 6, "the cells of the old parameter are gone"


def test_an_edited_ranker_of_ones_own_runs_again(tmp_path, monkeypatch):
    run_experiment(FOLDS, {"a": First(), "rules": rr.GlobalRules()}, out=tmp_path)
    monkeypatch.setattr("inspect.getsource", lambda kind: "class First: ...")
    assert run_experiment(FOLDS, {"a": First(), "rules": rr.GlobalRules()}, out=tmp_path).n_reused == 3


def test_changed_data_run_everything_again(tmp_path):
    run_experiment(FOLDS, {"a": First()}, out=tmp_path)
    fold = FOLDS[0]
    other = Fold(fold.name, Dataset(fold.train.X + 1, fold.train.y, fold.train.qid), fold.vali, fold.test)
    assert run_experiment([other, *FOLDS[1:]], {"a": First()}, out=tmp_path).n_reused == 2


def test_a_damaged_cell_runs_again(tmp_path):
    run_experiment(FOLDS, {"a": First()}, out=tmp_path)
    damaged = min(tmp_path.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert run_experiment(FOLDS, {"a": First()}, out=tmp_path).n_reused == 2


def test_a_failed_system_does_not_stop_the_others_and_is_tried_again(tmp_path):
    systems = {"good": First(), "bad": First("badly")}
    found = run_experiment(FOLDS, systems, out=tmp_path)
    assert [system.name for system in found.complete] == ["good"]
    assert found.failures["bad", 1].reason.startswith("ValueError: no luck today (fit, line")
    assert not found.failures["bad", 1].skipped
    assert run_experiment(FOLDS, systems, out=tmp_path).n_reused == 3


def test_a_system_whose_package_is_missing_is_skipped():
    found = run_experiment(FOLDS, ["QI", {"a": First("package")}])
    assert {place for place, failure in found.failures.items() if failure.skipped} == {("a", n) for n in range(3)}
    assert "pip install 'rulerank[peers]'" in found.failures["a", 0].reason


def test_scores_that_are_no_numbers_are_a_failure_of_their_system_alone(tmp_path):
    folds = [replace(fold, test=replace(fold.test, X=np.full_like(fold.test.X, 1e30))) for fold in FOLDS]
    found = run_experiment(folds, {"good": First(), "bad": First(sign=np.float64(1e300))}, out=tmp_path)
    assert [system.name for system in found.complete] == ["good"]
    assert "its scores are not all finite numbers" in found.failures["bad", 0].reason


def test_processes_give_the_same_scores_and_one_that_dies_takes_only_its_cell(tmp_path):
    bad = [
        System("dies", "yours", Rank(First("process")), ""),
        System("lock", "yours", Rank(First(sign=Lock())), ""),
    ]
    good = choose_systems(["QI"])
    alone = run_experiment(FOLDS[:1], good)
    found = run_experiment(FOLDS[:1], [*bad, *good], out=tmp_path, n_jobs=2)
    assert found.failures["dies", 0].reason == "its process ended: out of memory, or a crash"
    assert found.failures["lock", 0].reason.startswith("it cannot be sent to another process, use one job: ")
    assert found.complete == good
    for place, scores in alone.cells.items():
        np.testing.assert_array_equal(found.cells[place].test, scores.test)


SCRIPT = """
import sys
import rulerank as rr
if __name__ == "__main__":
    folds = rr.make_folds(rr.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=3)
    def tell(step):
        print(step.n_done, flush=True)
    rr.run_experiment(folds, ["RE-GR", "RE-GR+", "QI", "QI+", "Best feature"], out=sys.argv[1], on_step=tell)
"""


def test_killed_in_the_middle_and_run_again_gives_the_same_report(tmp_path):
    names = ["RE-GR", "RE-GR+", "QI", "QI+", "Best feature"]
    whole = run_experiment(FOLDS, names)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) >= 4:
                process.send_signal(signal.SIGKILL)
                break
    resumed = run_experiment(FOLDS, names, out=tmp_path)
    assert 3 <= resumed.n_reused <= 15
    first, second = (make_report(found, draw=False)[0] for found in (whole, resumed))
    timeless = [[section for section in report.blocks if section.key != "time"] for report in (first, second)]
    assert timeless[0] == timeless[1]
    assert first.lead == second.lead


def test_steps_tell_how_far_the_work_is():
    steps = []
    run_experiment(FOLDS, {"a": First(), "b": First()}, on_step=steps.append)
    assert [step.n_done for step in steps] == [1, 2, 3, 4, 5, 6]
    assert {step.n_cells for step in steps} == {6}
    assert [(step.system, step.fold) for step in steps][:3] == [("a", "Fold1"), ("b", "Fold1"), ("a", "Fold2")]


def test_parameters_are_chosen_on_vali_and_never_see_a_grade_of_test():
    fold = FOLDS[0]
    hidden = replace(fold, test=replace(fold.test, y=np.zeros_like(fold.test.y)))
    seen, blind = (run_experiment([one]) for one in (fold, hidden))
    assert not seen.failures
    for place, scores in seen.cells.items():
        np.testing.assert_array_equal(blind.cells[place].test, scores.test, err_msg=str(place))
        assert blind.cells[place].params == scores.params


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write to .*file"):
        run_experiment(FOLDS, ["QI"], out=tmp_path / "file")
