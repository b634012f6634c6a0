"""An experiment keeps what is finished, tells what failed, and gives the same figures whatever happens meanwhile."""

import io
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from failing_rankers import First
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.report import make_report
from rulerank.experiment.run import Cell, cell_key, code_digest, file_name, load_cell, run_experiment, save_cell
from rulerank.experiment.systems import Rank, Scores, System, choose_systems

FOLDS = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=3)
SCORES = Scores(
    np.arange(40.0),
    np.array([np.arange(40.0) / 3]),
    {"l2": 10.0, "weights": {"a": 0.5}},
    7,
    0.1,
    0.2,
    0.3,
    np.arange(3),
)


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def cell_in(folder, system="a", fold=FOLDS[0], key="0" * 16):
    return Cell(System(system, "yours", Rank(First()), ""), 0, fold, folder / file_name(system, fold.name, key))


def test_every_system_scores_every_test_document_of_every_fold():
    found = run_experiment(FOLDS, ["GlobalRules", "Best feature", "QueryIntercepts, tuned"])
    assert [system.name for system in found.complete][-1] == "QueryIntercepts, tuned"
    for number, fold in enumerate(FOLDS):
        expected = rr.GlobalRules().fit(fold.train).predict(fold.test)
        np.testing.assert_array_equal(found.cells["GlobalRules", number].test, expected)


def test_a_second_run_takes_everything_from_the_directory(tmp_path):
    first = run_experiment(FOLDS, ["GlobalRules", "QueryIntercepts, tuned"], out=tmp_path)
    before = files(tmp_path)
    second = run_experiment(FOLDS, ["GlobalRules", "QueryIntercepts, tuned"], out=tmp_path)
    assert (first.n_reused, second.n_reused) == (0, 6)
    assert files(tmp_path) == before
    for place, scores in first.cells.items():
        np.testing.assert_array_equal(second.cells[place].test, scores.test)
        assert second.cells[place].params == scores.params
        assert second.cells[place].fit_seconds == scores.fit_seconds


def test_what_has_changed_runs_again_and_nothing_else(tmp_path, monkeypatch):
    systems = {"a": First(), "rules": rr.GlobalRules()}

    def reused(folds=FOLDS, **changed):
        return run_experiment(folds, systems | changed, out=tmp_path).n_reused

    assert (reused(), reused()) == (0, 6)
    assert reused(a=First(sign=-1.0)) == 3
    assert len(files(tmp_path)) == 6, "the cells of the old parameter are gone"
    fold = FOLDS[0]
    other = Fold(fold.name, Dataset(fold.train.X + 1, fold.train.y, fold.train.qid), fold.vali, fold.test)
    assert reused([other, *FOLDS[1:]], a=First(sign=-1.0)) == 4
    reused()
    damaged = min(tmp_path.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert reused() == 5
    monkeypatch.setattr("inspect.getsource", lambda kind: "class First: ...")
    assert reused() == 3, "an edited ranker of one's own"


def test_a_key_depends_on_all_that_scores_depend_on(monkeypatch):
    same = (Rank(First()), "data", "MAP")
    for place, other in enumerate([Rank(First(), {"sign": [1.0]}), "other", "NDCG@10"]):
        assert cell_key(*[other if n == place else one for n, one in enumerate(same)]) != cell_key(*same)
    before = cell_key(*same)
    monkeypatch.setattr("rulerank.experiment.run.code_digest", lambda: "other")
    assert cell_key(*same) != before


def test_code_that_only_shows_figures_does_not_change_them(tmp_path):
    def digest():
        code_digest.cache_clear()
        return code_digest(tmp_path)

    names = ("rules/mining.py", "experiment/fitting.py", "experiment/report.py", "cli/compare.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    before = digest()
    for name in names[2:]:
        (tmp_path / name).write_text("x = 2")
    assert digest() == before
    (tmp_path / names[0]).write_text("x = 2")
    assert digest() != before


def test_a_cell_comes_back_as_it_was(tmp_path):
    cell = cell_in(tmp_path)
    save_cell(cell, SCORES)
    found = load_cell(cell)
    for name in Scores.__slots__:
        np.testing.assert_array_equal(getattr(found, name), getattr(SCORES, name))


def test_what_is_no_whole_cell_of_these_documents_is_not_taken(tmp_path):
    cell = cell_in(tmp_path)
    save_cell(cell, SCORES)
    whole = cell.path.read_bytes()
    pickled = io.BytesIO()
    np.savez(pickled, vali=np.array([{}], dtype=object), test=np.zeros(40), about=np.zeros(1, dtype=np.uint8))
    for content in (b"", b"PK", whole[:100], whole[:-1], pickled.getvalue()):
        cell.path.write_bytes(content)
        assert load_cell(cell) is None
    save_cell(cell, replace(SCORES, test=np.zeros(3)))
    assert load_cell(cell) is None


def test_saving_removes_the_older_cell_of_the_same_system_and_fold_alone(tmp_path):
    eleven = replace(FOLDS[0], name="Fold11")
    for system, fold, key in [("RE-GR", FOLDS[0], "1"), ("RE-GR+", FOLDS[0], "2"), ("RE-GR", eleven, "3")]:
        save_cell(cell_in(tmp_path, system, fold, key), SCORES)
    save_cell(cell_in(tmp_path, "RE-GR", FOLDS[0], "4"), SCORES)
    assert {*files(tmp_path)} == {"RE-GR+@Fold1@2.npz", "RE-GR@Fold1@4.npz", "RE-GR@Fold11@3.npz"}


@given(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20)] * 4)
def test_names_of_files_are_safe_and_differ_when_the_names_do(one, fold, other, other_fold):
    name = file_name(one, fold, "0")
    assert not set(name) & set('/\\*?[] :"')
    assert (name == file_name(other, other_fold, "0")) == ((one, fold) == (other, other_fold))


def test_a_failed_system_does_not_stop_the_others_and_is_tried_again(tmp_path):
    systems = {"good": First(), "bad": First("badly"), "skipped": First("package")}
    found = run_experiment(FOLDS, systems, out=tmp_path)
    assert [system.name for system in found.complete] == ["good"]
    assert found.failures["bad", 1].reason.startswith("ValueError: no luck today (fit, line")
    assert "pip install 'rulerank[compare]'" in found.failures["skipped", 0].reason
    assert {place[0] for place, failure in found.failures.items() if failure.skipped} == {"skipped"}
    assert run_experiment(FOLDS, systems, out=tmp_path).n_reused == 3


def test_scores_that_are_no_numbers_are_a_failure_of_their_system_alone():
    folds = [replace(fold, test=replace(fold.test, X=np.full_like(fold.test.X, 1e30))) for fold in FOLDS]
    found = run_experiment(folds, {"good": First(), "bad": First(sign=np.float64(1e300))})
    assert [system.name for system in found.complete] == ["good"]
    assert "its scores are not all finite numbers" in found.failures["bad", 0].reason


def test_processes_give_the_same_scores_and_one_that_dies_takes_only_its_cell(tmp_path):
    good = choose_systems(["QueryIntercepts"])
    alone = run_experiment(FOLDS[:1], good)
    bad = choose_systems({"dies": First("process"), "lock": First(sign=Lock())})
    found = run_experiment(FOLDS[:1], [*bad, *good], out=tmp_path, n_jobs=2)
    assert found.failures["dies", 0].reason == "its process ended: out of memory, or a crash"
    assert found.failures["lock", 0].reason.startswith("it cannot be sent to another process, use one job: ")
    assert found.complete == good
    np.testing.assert_array_equal(found.cells["QueryIntercepts", 0].test, alone.cells["QueryIntercepts", 0].test)


SCRIPT = """
import sys
import rulerank as rr
folds = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=3)
def tell(step):
    print(step.n_done, flush=True)
rr.experiment.run_experiment(folds, ["GlobalRules", "QueryIntercepts"], out=sys.argv[1], on_step=tell)
"""


def test_killed_in_the_middle_and_run_again_gives_the_same_report(tmp_path):
    whole = run_experiment(FOLDS, ["GlobalRules", "QueryIntercepts"])
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) >= 3:
                process.send_signal(signal.SIGKILL)
                break
    resumed = run_experiment(FOLDS, ["GlobalRules", "QueryIntercepts"], out=tmp_path)
    assert 2 <= resumed.n_reused <= 6
    first, second = (make_report(found)[0] for found in (whole, resumed))
    assert first.blocks[:-1] == second.blocks[:-1]  # the last has the seconds
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
