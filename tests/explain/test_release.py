"""The release page: what a new ranking changes, counted and explained, and by labels whether it is better."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.explain import release_of
from rulerank.explain.release import Turnover, good_kinds, good_range
from rulerank.recall_base import RecallBase

DATA = rr.datasets.make_ranking(n_queries=30, seed=3)
RANKER = rr.FittedRules(n_jobs=1).fit(DATA)


@pytest.fixture(scope="module")
def found():
    return RANKER.release(DATA, "bm25_body", n=5)


def tops(scores, n=5):
    """The rows of each query's first results, by one sort after the other."""
    lists = {}
    for query in dict.fromkeys(DATA.qid.tolist()):
        rows = np.flatnonzero(DATA.qid == query)
        lists[query] = sorted(rows.tolist(), key=lambda row: -scores[row])[:n]
    return lists


def test_changes_are_counted_as_by_hand(found):
    column = np.nan_to_num(DATA.X[:, DATA.feature_names.index("bm25_body")], nan=-1.0)
    before, after = tops(column), tops(RANKER.predict(DATA))
    new = {query: len({*after[query]} - {*before[query]}) for query in after}
    assert found.n_queries == 30
    assert found.n_docs == len(DATA)
    assert found.new_results == tuple(np.bincount([*new.values()], minlength=6).tolist())
    assert found.n_same == sum(before[query] == after[query] for query in after)
    assert found.n_reordered == sum(new[query] == 0 and before[query] != after[query] for query in after)
    assert found.first_changed == sum(before[query][0] != after[query][0] for query in after)
    assert found.mean_new == pytest.approx(np.mean([*new.values()]))


def test_effects_of_features_add_up_to_the_difference_of_scores(found):
    column = np.nan_to_num(DATA.X[:, DATA.feature_names.index("bm25_body")], nan=-1.0)
    scores = RANKER.predict(DATA)
    before, after = tops(column), tops(scores)
    gaps = [
        np.mean([scores[row] for row in {*after[query]} - {*before[query]}])
        - np.mean([scores[row] for row in {*before[query]} - {*after[query]}])
        for query in after
        if {*after[query]} != {*before[query]}
    ]
    assert sum(shift.adds for shift in found.shifts) == pytest.approx(np.mean(gaps))
    sizes = [abs(shift.adds) for shift in found.shifts]
    assert sizes == sorted(sizes, reverse=True)


def test_results_that_enter_and_leave_are_counted_by_their_labels(found):
    column = np.nan_to_num(DATA.X[:, DATA.feature_names.index("bm25_body")], nan=-1.0)
    before, after = tops(column), tops(RANKER.predict(DATA))
    for one, lists, others in ((found.entered, after, before), (found.left, before, after)):
        grades = [DATA.y[row] for query in lists for row in {*lists[query]} - {*others[query]}]
        relevant = sum(grade > 0 for grade in grades)
        assert one == Turnover(len(grades), relevant, len(grades) - relevant, 0, relevant / len(grades))
    assert f"{found.entered.n_results} results enter the top 5: {found.entered}. " in " ".join(found.to_text().split())


def test_good_values_are_the_range_that_gains_most():
    values = np.repeat(np.arange(10.0), 3)
    adds = np.where(values < 2, -1.0, np.where(values > 7, -0.5, 0.4))
    assert good_range(values, adds).text == "2 to 7"
    assert good_range(values, adds).holds.tolist() == ((values > 1) & (values < 8)).tolist()
    assert [good_range(values, way * values - way * 4.5).text for way in (1, -1)] == ["5 or more", "4 or less"]
    assert good_range(values, np.where(values, 0.1, -0.9)).text == "above 0"
    assert good_range(values, np.where(values, -0.1, 0.9)).text == "0"
    assert good_range(values, values - 4.5, lambda day: f"day {day:.0f}", date=True).text == "day 5 or later"
    holes = good_range(np.append(values, np.nan), np.append(values - 4.5, 9.0))
    assert (holes.text, holes.holds[-1]) == ("5 or more", False)
    assert good_range(np.ones(3), np.arange(3.0)) is good_range(np.full(3, np.nan), np.ones(3)) is None
    kinds = good_kinds(np.array([0, 1, 2, 3, np.nan, 9]), np.array([1.0, 3, 2, -1, 5, 5]), ["a", "b", "c", "d"])
    assert (kinds.text, kinds.holds.tolist()) == ("b or c or 1 other", [True, True, True, False, False, False])
    assert good_kinds(np.array([0.0]), np.array([-1.0]), ["a"]) is None


def test_every_reason_says_which_values_are_good(found):
    for shift in found.shifts:
        column = DATA.X[:, DATA.feature_names.index(shift.feature)]
        if shift.good.endswith(" or more"):
            assert np.isclose(column, float(shift.good.split()[0]), rtol=0.01).any()  # the text is rounded
    main = found.shifts[0]
    assert main.entered_good > main.left_good
    shares = [f"{100 * share:.0f} %" for share in (main.entered_good, main.left_good)]
    assert str(main) == f"{main.name} {main.good} ({' against '.join(shares)})"
    for mover in (*found.risen, *found.fallen):
        assert 1 <= mover.why.count("(good: ") + mover.why.count("(others: ") <= 3


def test_logarithms_are_written_as_what_they_are_of():
    names = ("log(reviews)", "bm25_body")
    X = np.column_stack([np.log1p(np.arange(len(DATA)) % 40), DATA.X[:, DATA.feature_names.index("bm25_body")]])
    data = replace(DATA, X=X, y=(X[:, 0] > np.log1p(19)).astype(int), feature_names=names)
    shift = rr.FittedRules(n_jobs=1).fit(data).release(data, "bm25_body").shifts[0]
    assert (shift.name, shift.feature) == ("reviews", "log(reviews)")
    assert 16 <= float(shift.good.removesuffix(" or more")) <= 24


def test_metrics_are_those_of_compare(found):
    column = np.nan_to_num(DATA.X[:, DATA.feature_names.index("bm25_body")], nan=-1.0)
    table = rr.compare(DATA, {"new": RANKER.predict(DATA), "baseline": column}, measures=["NDCG@5", "P@3", "MRR"])
    assert [one.to_dict() for one in found.comparisons] == [pair.to_dict() for pair in table.pairs]
    differences = [gain.now - gain.before for gain in found.gains]
    assert differences == sorted(differences, reverse=True)
    assert np.mean(differences) == pytest.approx(table.pairs[0].difference)


def test_movers_and_examples_have_their_ranks(found):
    scores = RANKER.predict(DATA)
    for mover in (*found.risen, *found.fallen):
        own = DATA.qid == mover.query
        row = np.flatnonzero(own & (DATA.docid == mover.document))[0]
        assert (scores[own] > scores[row]).sum() < mover.now <= (scores[own] >= scores[row]).sum()
        assert (mover.now <= 5) == (mover in found.risen) == (mover.before > 5)
    moved = [mover.before - mover.now for mover in found.risen]
    assert moved == sorted(moved, reverse=True)
    assert len({mover.query for mover in found.risen}) == len(found.risen)
    assert found.examples[0].why == "largest gain by labels"
    assert found.examples[0].query == found.gains[0].query
    for one in found.examples:
        assert [result.before for result in one.before] == [1, 2, 3, 4, 5]
        assert [result.now for result in one.after] == [1, 2, 3, 4, 5]
        assert one.n_new == sum(result.before > 5 for result in one.after)


def test_the_page_has_every_part_in_each_format(found):
    text, html, markdown = found.to_text(), found.to_html(), found.to_markdown()
    for words in ("Is it better?", "How much changes?", "Why does it change?", "Which documents move most?"):
        assert words in text
        assert f"<h2>{words}</h2>" in html
        assert f"## {words}" in markdown
    assert f"The top 5 changes for {found.n_changed} of 30 queries" in text
    assert "NDCG@5" in text
    assert found.to_dict()["kind"] == "release"
    assert found.to_json().startswith("{")


def test_without_labels_it_says_so_and_shows_the_rest():
    bare = replace(DATA, y=np.full(len(DATA), -1))
    found = RANKER.release(bare, "-bm25_body", examples=2)
    assert found.comparisons == ()
    assert "There are no labels, so this page shows what changes, and not whether it is better." in found.to_text()
    assert "label" not in found.to_text().split("Which documents move most?")[1]
    one = replace(DATA, y=np.where(DATA.qid == "q1", DATA.y, -1))
    few = RANKER.release(one, "bm25_body", examples=1)
    assert "The labels do not suffice to compare the two rankings: expected at least two queries" in few.note


def test_only_judged_documents_count_as_labelled():
    judged = np.arange(len(DATA)) % 3 > 0
    base = RecallBase(judged, np.zeros(len(DATA), dtype=bool), np.full(len(DATA), "", dtype=object))
    pool = replace(DATA, y=np.where(judged, DATA.y, 0), base=base)  # others count as grade 0 elsewhere
    found, bare = (
        RANKER.release(pool, "bm25_body"),
        RANKER.release(replace(DATA, y=np.where(judged, DATA.y, -1)), "bm25_body"),
    )
    assert found.comparisons == bare.comparisons
    assert 0 < found.n_labelled == bare.n_labelled < found.n_listed == 300
    grades = {(DATA.qid[row], DATA.docid[row]): DATA.y[row] if judged[row] else None for row in range(len(DATA))}
    for result in (*found.risen, *found.fallen, *found.examples[0].before, *found.examples[0].after):
        assert result.grade == grades[result.query, result.document]
    text = " ".join(found.to_text().split())
    assert f"{100 * found.n_labelled / 300:.0f} % have a label. Documents without a label are left out." in text
    one = found.left
    assert one.relevant_share == one.n_relevant / (one.n_relevant + one.n_not_relevant)
    assert one.n_unlabelled == one.n_results - one.n_relevant - one.n_not_relevant > 0


def test_labels_of_relevant_documents_only_count_the_others_as_not_relevant():
    answered = DATA[np.isin(DATA.qid, DATA.qid[DATA.y > 0])]
    found = RANKER.release(replace(answered, y=np.where(answered.y > 0, answered.y, -1)), "bm25_body")
    assert found.comparisons == RANKER.release(answered, "bm25_body").comparisons
    assert found.note == "Documents without a label count as not relevant."
    assert found.entered.relevant_share == found.entered.n_relevant / found.entered.n_results


def test_the_same_ranking_changes_nothing():
    found = RANKER.release(DATA, RANKER)
    assert (found.n_changed, found.mean_new, found.shifts, found.risen) == (0, 0.0, (), ())
    assert "30 queries keep the same list" in " ".join(found.to_text().split())


def test_a_ranker_that_cannot_be_explained_has_no_reasons(monkeypatch):
    def refuse(*_):
        raise DataError("no sum")

    monkeypatch.setattr(type(RANKER), "contributions", refuse)
    found = RANKER.release(DATA, "bm25_body")
    assert found.shifts == ()
    assert "Why does it change?" not in found.to_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DATA.X, "bm25_body"), "a release page needs a Dataset with documents"),
        ((DATA, None), "a release page compares two rankings: name the one that users see now"),
        ((DATA, "bm25_body", 0), "n must be an integer of at least 1: got 0"),
        ((DATA, "bm25_body", 10, -1), "examples must be an integer of at least 0: got -1"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(DataError, match=message):
        release_of(RANKER, *arguments)


def test_features_have_names_that_people_read(tmp_path):
    names = ("bm25(title)", "grams(title)", "covered(brand)", "own")
    data = replace(DATA, X=np.nan_to_num(DATA.X[:, :4]) + DATA.y[:, None], feature_names=names)
    ranker = rr.QueryIntercepts(l2=1.0).fit(data).name_features({"own": "our popularity"})
    ranker.save(tmp_path / "m.rulerank")
    for one in (ranker, rr.load(tmp_path / "m.rulerank")):
        why = one.explain(data, 0)
        called = {share.feature: share.name for share in why.features}
        assert (called["bm25(title)"], called["own"]) == ("BM25 match in title", "our popularity")
        assert 'title="covered(brand)"' in why.to_html()
        assert "share of query words in brand" in one.release(data, "own").to_html()
        assert "our popularity" in one.overview(data).to_text()
        reasons = {
            reason.feature: reason.text for reason in rr.Reranker(one).rank("", data[data.qid == "q1"])[0].reasons
        }
        assert reasons["own"].startswith("our popularity ")
    (tmp_path / "wrong.csv").write_text("a,b\nf1,x\n")
    with pytest.raises(rr.errors.ReadError, match=r"wrong\.csv:1: expected the columns feature and name, got a, b"):
        ranker.name_features(tmp_path / "wrong.csv")
    with pytest.raises(DataError, match="names: the model has no feature 'nope'; it has bm25"):
        ranker.name_features({"nope": "x"})
