"""Rankers and runs of one's own stand in one table with the systems that are known; what fails is told."""

from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.rankings import feature_scores
from rulerank.experiment.compare import open_folds, own_ranker
from rulerank.experiment.report import summarise
from rulerank.experiment.run import run_experiment
from rulerank.experiment.systems import WARM_QUERIES, BestFeature, own_system, rank
from rulerank.io.formats import write_any
from rulerank.selection.select import Scoring

DATA = rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=5)
FOLDS = rr.datasets.make_folds(DATA, n_folds=3)
FOLD = FOLDS[0]
RUN = rr.io.run_from_scores(DATA, np.nan_to_num(DATA.X[:, 0]), "engine")


def test_the_setting_that_is_best_on_vali_is_kept_and_of_equals_the_first():
    scores = rank(First(), {"sign": [-1.0, 1.0]}, FOLD.train, FOLD, "MAP")
    by_sign = {sign: rank(First(sign=sign), {}, FOLD.train, FOLD, "MAP") for sign in (-1.0, 1.0)}
    best = max(by_sign, key=lambda sign: Scoring("MAP").mean(FOLD.vali, by_sign[sign].vali))
    assert scores.params == {"sign": best}
    np.testing.assert_array_equal(scores.test, by_sign[best].test)
    assert rank(First(), {"fail": ["a", "b"]}, FOLD.train, FOLD, "MAP").params == {"fail": "a"}


def test_a_ranker_that_cannot_learn_from_the_few_queries_of_the_warm_up_still_runs():
    train = rr.Dataset.concat([FOLD.train, FOLD.vali])
    assert WARM_QUERIES * 8 < 50 < len(train)
    assert rank(First("few"), {}, train, FOLD, "MAP").test.shape == (len(FOLD.test),)


def test_the_best_feature_is_the_best_on_vali_either_way_round():
    scores = BestFeature().run(FOLD, "MAP")
    names = [sign + name for name in FOLD.vali.feature_names for sign in ("", "-")]
    tried = [Scoring("MAP").mean(FOLD.vali, feature_scores(FOLD.vali, name)) for name in names]
    assert scores.params == {"feature": names[int(np.argmax(tried))]}
    np.testing.assert_array_equal(scores.test, feature_scores(FOLD.test, scores.params["feature"]))
    assert scores.n_labels == 0


def boosters():
    lightgbm, xgboost, catboost = (pytest.importorskip(name) for name in ("lightgbm", "xgboost", "catboost"))
    return {
        "LightGBM": lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1),
        "XGBoost": xgboost.XGBRanker(n_estimators=5),
        "CatBoost": catboost.CatBoostRanker(iterations=5, verbose=False, allow_writing_files=False),
    }


def test_rankers_of_other_libraries_runs_and_known_systems_stand_in_one_table():
    from sklearn.linear_model import Ridge

    oracle = rr.io.run_from_scores(DATA, DATA.y.astype(float))
    own = {"ridge": Ridge(), "engine": RUN, "oracle": oracle, "bad": First("badly")} | boosters()
    data = [rr.datasets.Fold(f.name, *(filled(part) for part in (f.train, f.vali, f.test))) for f in FOLDS]
    found = run_experiment(data, ["QueryIntercepts", own])
    assert [system.name for system in found.complete] == ["QueryIntercepts", *(name for name in own if name != "bad")]
    text = str(found.table(["MAP"]))
    names = [line.split()[0] for line in text.splitlines()[1:-1]]
    assert (names[0], names[-1]) == ("oracle", "bad"), "the best first, those without figures last"
    assert sorted(names) == sorted(["QueryIntercepts", *own])
    assert "failed in all folds: ValueError: no luck today" in text


def filled(data):
    return rr.Dataset(np.nan_to_num(data.X), data.y, data.qid, data.docid, data.feature_names)


def test_a_run_meets_the_documents_by_ids_whatever_their_order():
    mixed = np.random.default_rng(0).permutation(len(RUN))
    run = rr.Run(RUN.qid[mixed], RUN.docid[mixed], RUN.score[mixed], RUN.tag[mixed])
    found = run_experiment(FOLDS, {"engine": run, "first": First()})
    for number in range(3):
        np.testing.assert_array_equal(found.cells["engine", number].test, found.cells["first", number].test)


def test_documents_that_a_run_lacks_are_not_returned_and_the_figure_is_that_of_evaluate():
    kept = np.arange(len(RUN)) % 3 > 0
    run = rr.Run([*RUN.qid[kept], *DATA.qid], [*RUN.docid[kept], *(["new"] + [f"n{n}" for n in range(len(DATA) - 1)])],
                 [*RUN.score[kept], *[-9.0] * len(DATA)], ["x"] * (kept.sum() + len(DATA)))  # fmt: skip
    known = rr.Run(RUN.qid[kept], RUN.docid[kept], RUN.score[kept], RUN.tag[kept])
    found = run_experiment(FOLDS, {"engine": run})
    means = [rr.evaluate(known, fold.test, measures=["MAP"], complete=True).means["MAP"] for fold in FOLDS]
    assert summarise(found).row("engine").means[0] == np.mean(means)
    said = found.cells["engine", 0].params
    assert said["documents returned"] == f"{int(np.isfinite(found.cells['engine', 0].test).sum())} of 40"
    assert said["queries"] == "5 of 5"
    assert said["left out, not in the data"] == "40"


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
    ],
)
def test_what_does_not_fit_is_a_failure_with_its_reason(run, message):
    found = run_experiment(FOLDS[:1], {"mine": run})
    assert message in found.failures["mine", 0].reason
    assert message in " ".join(str(found.table()).split())  # however narrow the terminal is
    assert message in found.frame()["failure"][0]


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"mine": 3}, "mine: expected a ranker with fit and predict, a run .* or the name of a system: got 3"),
        ({"mine": First}, "got the class First, not an instance"),
        ({"mine": "RE-GGR"}, "unknown system 'RE-GGR'"),
        ([First()], r"expected the name of a system, or \{'mine': First\(\)\} for one of your own"),
        ("GlobalRules", r"expected a list of systems, such as \['GlobalRules'\]: got the text 'GlobalRules'"),
        ([], "expected at least one system to run: got none"),
        (["QueryIntercepts", {"QueryIntercepts": First()}], "two systems are called 'QueryIntercepts': give each"),
    ],
)
def test_what_is_no_system_is_refused(systems, message):
    with pytest.raises(DataError, match=message):
        run_experiment(FOLDS, systems)


def test_a_known_system_may_have_another_name():
    found = run_experiment(
        FOLDS, {"letter": "GlobalRules, literal", "same": rr.GlobalRules(votes="mean", drop_weakest=0.0)}
    )
    np.testing.assert_array_equal(found.cells["letter", 0].test, found.cells["same", 0].test)
    assert own_system("mine", own_system("a", First())).name == "mine"


def test_a_file_is_split_and_documents_without_a_grade_are_left_out_and_counted(tmp_path):
    y = DATA.y.copy()
    y[:5] = -1
    write_any(rr.Dataset(DATA.X, y, DATA.qid, DATA.docid, DATA.feature_names), tmp_path / "some.csv")
    folds, n_rows, found = open_folds(tmp_path / "some.csv", 3)
    assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold3"]
    assert (n_rows, found.rows.size) == (len(DATA), len(DATA) - 5)
    assert sum(len(fold.test) for fold in folds) == len(DATA) - 5


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (
            "data.csv",
            {"n_folds": 20},
            "data.csv: expected graded documents of at least 20 queries for 20 folds, got 15",
        ),
        ("nowhere", {}, "nowhere: there is no such folder or file"),
        (".", {"n_folds": 3, "unjudged": 0}, "is a folder of LETOR folds: leave out --folds, unjudged"),
    ],
)
def test_mistakes_in_what_is_opened_are_told(source, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_any(DATA, "data.csv")
    with pytest.raises((DataError, ReadError), match=message):
        open_folds(source, **options)


def test_a_ranker_is_found_in_python_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
        ("collections:Counter", "'collections:Counter' is not a ranker with fit and predict: got Counter"),
    ]:
        with pytest.raises(DataError, match=message):
            own_ranker(place)
