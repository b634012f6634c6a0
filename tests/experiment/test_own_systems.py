"""Rankers, runs and scores of one's own stand in one table with the systems that are known; what fails is told."""

from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError, ReadError
from rulerank.experiment.compare import given_scores, open_folds, own_ranker, own_systems
from rulerank.experiment.run import run_experiment
from rulerank.experiment.summary import summarise
from rulerank.experiment.systems import own_system
from rulerank.io.formats import write_any

DATA = rr.make_ranking(n_queries=15, docs_per_query=8, n_features=5)
FOLDS = rr.make_folds(DATA, n_folds=3)
RUN = rr.run_from_scores(DATA, np.nan_to_num(DATA.X[:, 0]), "engine")


def boosters():
    lightgbm, xgboost, catboost = (pytest.importorskip(name) for name in ("lightgbm", "xgboost", "catboost"))
    return {
        "LightGBM": lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1),
        "XGBoost": xgboost.XGBRanker(n_estimators=5),
        "CatBoost": catboost.CatBoostRanker(iterations=5, verbose=False, allow_writing_files=False),
    }


def test_rankers_of_other_libraries_runs_and_known_systems_stand_in_one_table():
    from sklearn.linear_model import Ridge

    scores = {fold.name: fold.test.y.astype(float) for fold in FOLDS}
    own = {"ridge": Ridge(), "engine": RUN, "oracle": scores, "bad": First("badly")} | boosters()
    data = [rr.Fold(f.name, *(filled(part) for part in (f.train, f.vali, f.test))) for f in FOLDS]
    found = run_experiment(data, ["QI", own])
    assert [system.name for system in found.complete] == ["QI", *(name for name in own if name != "bad")]
    text = str(found.table(["MAP"]))
    names = [line.split()[0] for line in text.splitlines()[1:-1]]
    assert (names[0], names[-1]) == ("oracle", "bad"), "the best first, those without figures last"
    assert sorted(names) == sorted(["QI", *own])
    assert "failed in all folds: ValueError: no luck today" in text
    best = np.mean([rr.evaluate(fold.test, fold.test.y, measures="MAP").means["MAP"] for fold in FOLDS])
    assert f"oracle    {best:.4f}" in text


def filled(data):
    return rr.Dataset(np.nan_to_num(data.X), data.y, data.qid, data.docid, data.feature_names)


def test_a_booster_of_another_library_is_told_the_queries_and_gives_what_it_gives_alone():
    lightgbm = pytest.importorskip("lightgbm")
    made = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1, n_jobs=1)
    fold = FOLDS[0]
    found = run_experiment([fold], {"trees": made})
    sizes = np.unique(fold.train.qid, return_index=True)[1]
    group = np.diff([*np.sort(sizes), len(fold.train)])
    alone = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1, n_jobs=1)
    expected = alone.fit(fold.train.X, fold.train.y, group=group).predict(fold.test.X)
    np.testing.assert_array_equal(found.cells["trees", 0].test, expected)


def test_a_run_meets_the_documents_by_ids_whatever_their_order():
    mixed = np.random.default_rng(0).permutation(len(RUN))
    run = rr.Run(RUN.qid[mixed], RUN.docid[mixed], RUN.score[mixed], RUN.tag[mixed])
    found = run_experiment(FOLDS, {"engine": run, "first": First()})
    for number in range(3):
        np.testing.assert_array_equal(found.cells["engine", number].test, found.cells["first", number].test)


def test_documents_that_a_run_lacks_are_not_returned_and_the_figure_is_that_of_evaluate_run():
    kept = np.arange(len(RUN)) % 3 > 0
    run = rr.Run(RUN.qid[kept], RUN.docid[kept], RUN.score[kept], RUN.tag[kept])
    found = run_experiment(FOLDS, {"engine": run})
    means = [rr.evaluate_run(run, fold.test, ["MAP"], complete=True).means["MAP"] for fold in FOLDS]
    assert summarise(found).row("engine").means[0] == np.mean(means)
    said = found.cells["engine", 0].params
    assert said["documents returned"] == f"{int(np.isfinite(found.cells['engine', 0].test).sum())} of 40"
    assert said["queries"] == "5 of 5"
    assert said["left out, not in the data"] == "0"


def test_documents_of_a_run_that_the_data_lack_are_counted():
    run = rr.Run([*RUN.qid, RUN.qid[0]], [*RUN.docid, "new"], [*RUN.score, 9.0], [*RUN.tag, "x"])
    fold = next(fold for fold in FOLDS if RUN.qid[0] in fold.test.qid)
    assert run_experiment([fold], {"e": run}).cells["e", 0].params["left out, not in the data"] == "1"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            rr.Run(["z"], ["d"], [1.0], ["t"]),
            "no query of Fold1's test is in the run: the run has 'z', the data have 'q",
        ),
        (
            rr.Run(sorted(set(DATA.qid)), ["d"] * 15, [1.0] * 15, ["t"] * 15),
            "no document of Fold1's test is in the run: the run has 'd', the data have 'q",
        ),
        ({"Fold9": [1.0]}, "there are no scores for Fold1: those of Fold9 are there"),
        ({"Fold1": [1.0]}, "expected 40 scores for Fold1, one per document of its test: got 1"),
        ({"Fold1": [float("nan")] * 40}, "scores must be finite numbers: got nan at row 0 of Fold1's test"),
    ],
)
def test_what_does_not_fit_is_a_failure_with_its_reason(run, message):
    found = run_experiment(FOLDS[:1], {"mine": run})
    assert message in found.failures["mine", 0].reason
    assert message in " ".join(str(found.table()).split())  # however narrow the terminal is
    assert message in found.frame()["failure"][0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "mine: expected a ranker with fit and predict, a run .* or the name of a system: got 3"),
        (First, "got the class First, not one of it"),
        ("RE-GGR", "unknown system 'RE-GGR'"),
    ],
)
def test_what_is_no_system_is_refused(value, message):
    with pytest.raises(DataError, match=message):
        own_system("mine", value)


def test_a_ranker_without_a_name_is_asked_for_one():
    with pytest.raises(DataError, match=r"expected the name of a system, or \{'mine': First\(\)\} for one of your own"):
        run_experiment(FOLDS, [First()])


def test_a_known_system_may_have_another_name():
    found = run_experiment(FOLDS, {"letter": "RE-GR", "same": rr.GlobalRules(votes="mean", drop_weakest=0.0)})
    np.testing.assert_array_equal(found.cells["letter", 0].test, found.cells["same", 0].test)


def test_the_frame_has_a_row_for_every_system_and_fold():
    found = run_experiment(FOLDS, ["QI", {"bad": First("badly")}])
    frame = found.frame(["MAP", "P@1"])
    measured = ["system", "group", "fold", "MAP", "P@1", "labels"]
    seconds = ["fit_seconds", "tune_seconds", "predict_seconds"]
    assert frame.columns == [*measured, "chosen", *seconds, "failure"]
    assert frame["system"].to_list() == ["QI"] * 3 + ["bad"] * 3
    assert frame["MAP"].null_count() == 3
    assert frame["MAP"][:3].mean() == pytest.approx(summarise(found).row("QI").means[0])


def test_an_experiment_shows_as_a_table_without_arrays():
    found = run_experiment(FOLDS, ["QI", {"<b>": First()}])
    assert repr(found).splitlines()[0].split() == ["system", "MAP", "NDCG@10", "P@1", "P@10"]
    assert "array" not in repr(found)
    html = found._repr_html_()
    assert "&lt;b&gt;" in html
    assert '<td class="word" data-name="system">QI</td>' in html


def test_an_experiment_of_failures_alone_still_shows():
    assert "failed in all folds: ValueError" in repr(run_experiment(FOLDS, {"bad": First("badly")}))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_any(DATA, "data.csv")
    return tmp_path


def test_a_file_is_split_and_its_scores_stay_with_their_rows(folder):
    opened = open_folds("data.csv", 3)
    assert [fold.name for fold in opened.folds] == ["Fold1", "Fold2", "Fold3"]
    assert [len(fold.test) for fold in opened.folds] == [len(fold.test) for fold in FOLDS]
    Path("scores.txt").write_text("".join(f"{row}\n" for row in range(len(DATA))))
    scores = given_scores("scores.txt", opened)
    for fold in opened.folds:
        rows = scores[fold.name].astype(int)
        assert (DATA.docid[rows] == fold.test.docid).all()


def test_documents_without_a_grade_are_left_out_and_counted(folder):
    y = DATA.y.copy()
    y[:5] = -1
    write_any(rr.Dataset(DATA.X, y, DATA.qid, DATA.docid, DATA.feature_names), "some.csv")
    opened = open_folds("some.csv", 3)
    assert (opened.n_ungraded, opened.n_rows) == (5, len(DATA))
    assert sum(len(fold.test) for fold in opened.folds) == len(DATA) - 5


def test_folds_of_a_directory_have_a_score_file_each(folder):
    (folder / "Fold1").mkdir()
    for part in ("train", "vali", "test"):
        write_any(DATA, f"Fold1/{part}.txt")
    opened = open_folds(".")
    Path("mine-Fold1.txt").write_text("1\n" * len(DATA))
    assert given_scores("mine-{fold}.txt", opened)["Fold1"].size == len(DATA)
    with pytest.raises(DataError, match=r"write \{fold\} where the fold's name goes, such as scores/\{fold\}.txt"):
        given_scores("mine.txt", opened)
    Path("mine-Fold1.txt").write_text("1\n2\n")
    with pytest.raises(
        ReadError, match=r"mine-Fold1.txt: expected 120 scores, one per document of Fold1's test: got 2"
    ):
        given_scores("mine-{fold}.txt", opened)
    with pytest.raises(
        DataError, match=r"is a directory, which has its folds as LETOR files: leave out --from, --folds"
    ):
        open_folds(".", 3, format="csv")


def test_mistakes_in_files_and_places_are_told(folder):
    opened = open_folds("data.csv", 3)
    Path("short.txt").write_text("1\n")
    with pytest.raises(ReadError, match=r"short.txt: expected 120 scores, one per row of data.csv: got 1"):
        given_scores("short.txt", opened)
    with pytest.raises(
        DataError, match=r"data.csv: expected graded documents of at least 20 queries for 20 folds, got 15"
    ):
        open_folds("data.csv", 20)
    with pytest.raises(
        ReadError, match="nowhere: expected a directory with folds or a file of graded documents, got nothing"
    ):
        open_folds("nowhere")
    with pytest.raises(DataError, match="two systems are called 'a': give each a name of its own"):
        own_systems(opened, {"a": "rulerank:GlobalRules"}, {"a": "x.run"}, {})


def test_a_ranker_is_found_in_python_code(folder):
    Path("own_code.py").write_text(
        "from rulerank import GlobalRules\nclass A(GlobalRules): pass\nb = A(max_size=1)\nn = 3\n"
    )
    assert own_ranker("own_code:A").max_size == 2
    assert own_ranker("own_code:b").max_size == 1
    for place, message in [
        ("own_code", "expected module:object, such as my_rankers:trees: got 'own_code'"),
        ("own_code:c", "cannot load the ranker 'own_code:c': AttributeError"),
        ("no_such_code:c", "cannot load the ranker 'no_such_code:c': ModuleNotFoundError"),
        ("own_code:n", "cannot load the ranker 'own_code:n': TypeError"),
        (
            "collections:Counter",
            "'collections:Counter' is no ranker: expected something with fit and predict, got Counter",
        ),
    ]:
        with pytest.raises(DataError, match=message):
            own_ranker(place)
