"""A ranker learned from clicks takes the place of the baseline only where held-out clicks say that it is better."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import rulerank as rr
from rulerank.dataset import Impressions
from rulerank.errors import DataError
from rulerank.selection.from_clicks import scores_once, select_by_clicks

SYNTHETIC = rr.datasets.make_ranking(n_queries=60, n_features=3, seed=0)
BASELINE = "pagerank"  # the weakest of the three
SMALL = ([[1.0], [2.0], [3.0]], [0, 1, 2], ["q", "q", "q"])
QI = rr.QueryIntercepts()
COLUMN = SYNTHETIC.feature_names.index(BASELINE)


def log(n_impressions, *, seed=0):
    return rr.clicks.simulate_clicks(SYNTHETIC, SYNTHETIC.X[:, COLUMN], n_impressions=n_impressions, eta=1.0, seed=seed)


@pytest.fixture(scope="module")
def strong():
    return log(8000)


def noise(seed):
    """The same lists, clicked whatever stands there."""
    seen = log(2000, seed=seed)
    rng = np.random.default_rng(seed)
    shown = seen.impressions
    clicks = rng.binomial(shown.count, 0.3 / shown.position)
    return rr.Dataset(
        seen.X, seen.y, seen.qid, None, seen.feature_names, impressions=Impressions(shown.position, shown.count, clicks)
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_clicks_that_are_noise_keep_the_baseline_ranking(seed):
    learned = select_by_clicks(noise(seed), baseline=BASELINE)
    assert learned.facts["keep_baseline"]
    assert learned.ranker is not learned.learned
    assert (
        "do not show that the new ranking is better than the baseline (pagerank): the baseline is kept"
        in learned.lines()[-2]
    )
    scores, rows = learned.ranker.predict(SYNTHETIC), SYNTHETIC.qid == SYNTHETIC.qid[0]
    assert (np.argsort(scores[rows]) == np.argsort(SYNTHETIC.X[rows, COLUMN])).all()
    assert learned.learned.positions().effects.size == 10  # what positions do is found all the same


def test_clicks_that_say_much_leave_the_baseline_ranking(strong):
    learned = select_by_clicks(strong, baseline=BASELINE)
    assert not learned.facts["keep_baseline"]
    assert "show that it is better than the baseline ranking (pagerank)" in learned.lines()[-2]
    baseline, new = (
        rr.evaluate(SYNTHETIC, s).means["NDCG@10"] for s in (SYNTHETIC.X[:, COLUMN], learned.ranker.predict(SYNTHETIC))
    )
    assert new > baseline


def test_a_model_that_is_the_baseline_ranking_is_kept_itself(strong):
    model = rr.QueryIntercepts(l2=10.0, normalize="zscore").fit(SYNTHETIC)
    learned = select_by_clicks(noise(0), baseline=model)
    assert learned.facts["keep_baseline"]
    assert learned.ranker is model
    assert learned.method == "QI"
    assert "better than the baseline (a QueryIntercepts model): the baseline is kept" in learned.lines()[-2]
    fitted = select_by_clicks(noise(0), rr.QueryIntercepts(l2=10.0), baseline=model)
    assert fitted.facts["keep_baseline"]
    assert fitted.ranker is not model


@pytest.mark.parametrize("seed", range(3, 9))
def test_what_is_left_of_positions_does_not_speak_for_the_ranking_that_made_the_lists(seed):
    """The baseline ranking is another than the one that was shown, and clicks say nothing but where documents stood."""
    model = rr.QueryIntercepts(l2=10.0, normalize="zscore").fit(SYNTHETIC)
    assert select_by_clicks(noise(seed), baseline=model).facts["keep_baseline"]


def test_a_new_model_scores_each_held_out_document_once_too(strong, monkeypatch):
    seen = []

    def watched(predict, data, documents):
        seen.append((len(data), np.unique(documents).size))
        return scores_once(predict, data, documents)

    monkeypatch.setattr("rulerank.selection.from_clicks.scores_once", watched)
    learned = select_by_clicks(strong, rr.QueryIntercepts(normalize="zscore"), baseline=BASELINE)
    assert sum(n_rows for n_rows, _ in seen) == 2 * len(strong)  # the baseline and one candidate, each row once
    assert all(n_rows > n_documents for n_rows, n_documents in seen)  # documents that moved
    assert learned.table[0].params["normalize"] == "zscore"


def test_a_baseline_that_is_not_known_is_no_baseline_to_beat(strong):
    unknown = select_by_clicks(strong, rr.QueryIntercepts(l2=10.0))
    assert unknown.facts["keep_baseline"]
    assert unknown.learned.l2 == 10
    assert unknown.facts["against_baseline"]["baseline"] is None
    assert "The baseline ranking is unknown, so the new one cannot be compared with it: name it" in unknown.lines()[-2]


def test_a_ranking_that_ranks_nothing_is_refused(strong):
    flat = rr.Dataset(
        np.column_stack([strong.X, np.full(len(strong), 3.0)]), strong.y, strong.qid, None,
        (*strong.feature_names, "flat"), impressions=strong.impressions,
    )  # fmt: skip
    with pytest.raises(DataError, match=r"\) is constant within every query"):
        select_by_clicks(flat, baseline="flat")


def test_a_few_queries_with_clicks_say_nothing(strong):
    some = np.isin(strong.qid, [*dict.fromkeys(strong.qid)][:5])
    shown = Impressions(
        strong.impressions.position, strong.impressions.count, np.where(some, strong.impressions.clicks, 0)
    )
    few = rr.Dataset(strong.X, strong.y, strong.qid, None, strong.feature_names, impressions=shown)
    learned = select_by_clicks(few, baseline=BASELINE)
    assert learned.facts["keep_baseline"]
    assert "8,000 impressions, with clicks in 5 held-out queries, are too few to compare" in learned.lines()[-2]


def test_what_does_not_learn_from_clicks_is_named(strong):
    with pytest.raises(DataError, match=r"FittedRules does not learn from clicks; QueryIntercepts \(QI\) does"):
        rr.select(strong, rr.FittedRules())
    with pytest.raises(DataError, match="l2 must be "):
        rr.select(strong, rr.QueryIntercepts(l2="abc"))


def test_what_is_wrong_with_the_data_is_said_by_the_last_fit_alone(strong, recwarn):
    moved_nowhere = rr.clicks.simulate_clicks(
        SYNTHETIC, SYNTHETIC.X[:, COLUMN], n_impressions=8000, explore=0.0, seed=0
    )
    select_by_clicks(moved_nowhere, baseline=BASELINE)
    assert len([one for one in recwarn if "no document was shown at two" in str(one.message)]) == 1


def test_the_coefficient_of_baseline_is_free_and_the_others_are_held(strong):
    hard = rr.QueryIntercepts(l2=1e9)
    hard._free_column = 0
    coef = hard.fit(strong).coef_
    assert coef[0] > 0.1
    assert np.abs(coef[1:]).max() < 1e-3


def test_what_baseline_cannot_be_is_refused(strong):
    with pytest.raises(DataError, match="there is no feature 'bm26'"):
        select_by_clicks(strong, baseline="bm26")
    with pytest.raises(DataError, match="this QueryIntercepts needs length, which the data lacks"):
        select_by_clicks(strong, baseline=rr.QueryIntercepts(l2=1.0).fit(rr.Dataset(*SMALL, None, ("length",))))
    with pytest.raises(DataError, match="baseline: this QueryIntercepts is not fitted"):
        select_by_clicks(strong, baseline=rr.QueryIntercepts())
    with pytest.raises(DataError, match="add the scores of another model to the data as a feature, and name that"):
        select_by_clicks(strong, baseline=LinearRegression())
    with pytest.raises(DataError, match="baseline: scores of rows do not rank new documents: name a feature"):
        select_by_clicks(strong, baseline=strong.X[:, COLUMN])


def seen(synthetic, **options):
    return rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=3000, seed=0, **options)


@pytest.mark.parametrize("share", [0, 1])
def test_a_log_in_which_nothing_or_everything_was_clicked_teaches_nothing(share):
    data = seen(SYNTHETIC)
    shown = Impressions(data.impressions.position, data.impressions.count, share * data.impressions.count)
    with pytest.raises(DataError, match="no query has both clicks and impressions without a click, so there is"):
        select_by_clicks(replace(data, impressions=shown))


POOL = rr.datasets.make_ranking(n_queries=40, n_features=3, seed=0)
BODY = "bm25_body"


def labelled(grades, every=5):
    return replace(POOL, y=np.where(np.arange(len(POOL)) % every, -1, grades))


@pytest.fixture(scope="module")
def clicked():
    return rr.clicks.simulate_clicks(POOL, POOL.X[:, 0], n_impressions=12_000, seed=0)


def clicked_at_random(seen):
    """The same lists, clicked whatever stands there."""
    clicks = np.random.default_rng(0).binomial(seen.impressions.count, 0.3 / seen.impressions.position)
    return replace(seen, impressions=Impressions(seen.impressions.position, seen.impressions.count, clicks))


def start_of(found):
    """Return where labels start from, and the sentence about it."""
    return found.facts["start"]["start"], next(line for line in found.lines() if line.startswith("Labels refine"))


def test_where_labels_do_not_tell_clicks_say_where_to_start(clicked):
    few = labelled(POOL.y, every=20)
    found = rr.select(few, clicks=clicked, baseline=BODY)
    start, said = start_of(found)
    assert (start, found.facts["start"]["labels"]["verdict"]) == ("clicks", "unclear")
    assert said.startswith("Labels refine the click model: on labels of ")
    assert said.endswith(", no clear difference.")
    by_clicks = rr.select(clicked, baseline=BODY)
    alone = rr.select(few, baseline=by_clicks.ranker)
    assert found.lines() == [*by_clicks.lines(), said, *alone.lines()]
    assert (found.ranker.predict(POOL) == alone.ranker.predict(POOL)).all()


def test_labels_that_say_that_the_clicks_mislead_start_from_the_baseline_ranking(clicked):
    like_baseline = (POOL.X[:, 0] > np.median(POOL.X[:, 0])).astype(int)  # whatever was clicked
    found = rr.select(labelled(like_baseline), clicks=clicked, baseline=BODY)
    start, said = start_of(found)
    assert not found.facts["clicks"]["keep_baseline"]
    assert said.startswith("Labels refine the baseline ranking: on labels of ")
    assert said.endswith(", the baseline ranking 1.000.")
    assert (start, found.facts["few_labels"]["baseline"]) == ("baseline", BODY)
    assert found.facts["start"]["labels"]["verdict"] == "worse"


def test_labels_start_from_the_baseline_ranking_where_nothing_speaks_for_the_clicks(clicked):
    model = rr.QueryIntercepts(l2=1.0).fit(POOL)
    for baseline, about in ((BODY, BODY), (model, "a QueryIntercepts model")):
        found = rr.select(labelled(POOL.y), clicks=clicked_at_random(clicked), baseline=baseline)
        start, said = start_of(found)
        assert (start, found.facts["few_labels"]["baseline"]) == ("baseline", about)
        assert said.startswith("Labels refine the baseline ranking: on labels of ")


def test_without_a_ranking_of_baseline_there_is_nothing_to_compare(clicked):
    mine = rr.Anchored()
    found = rr.select(labelled(POOL.y), mine, clicks=clicked)
    assert mine.get_params() == rr.Anchored().get_params()  # the caller's stays as it was
    assert found.facts["start"]["labels"] is None
    assert start_of(found) == ("clicks", "Labels refine the click model.")
    assert isinstance(found.ranker, rr.Anchored)
