"""Values are read in the units of the data; the scale of a model only under its name."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

import rulerank as rr
from rulerank.explain.documents import standing, written
from rulerank.render.text import rich_page

SCALES = {"zscore": "z-score", "minmax": "min-max value", "rank": "rank share"}
KINDS = {
    "rules": rr.GlobalRules,
    "stable": rr.StableRules,
    "queries": rr.QueryRules,
    "tables": rr.FittedRules,
    "linear": rr.QueryIntercepts,
}
NUMBER_ALONE = re.compile(r"(price|stock|same) (in \[|[<>=])")  # of a model's scale, without its name


def shop():
    """Prices and stocks far from any z-score, and a feature that is the same in all documents of a query."""
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(12), 20)
    X = np.column_stack([rng.uniform(1000, 9000, 240), rng.uniform(200, 400, 240), 100.0 + qid])
    y = np.digitize(-X[:, 0] + rng.normal(0, 500, 240), [-6000, -3000])
    return rr.Dataset(X, y, [f"q{q}" for q in qid], feature_names=("price", "stock", "same"))


DATA = shop()
QUERY = DATA[DATA.qid == "q3"]


@pytest.fixture(scope="module", params=[(kind, "zscore") for kind in KINDS] + [("tables", "rank"), ("rules", "minmax")])
def fitted(request):
    kind, scale = request.param
    return KINDS[kind](normalize=scale).fit(DATA), SCALES[scale]


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts_in(one)


def test_the_scale_of_a_model_has_its_name_wherever_it_is_read(fitted):
    ranker, scale = fitted
    for shown in (ranker.explain(QUERY, 0), ranker.explain(QUERY, 0, versus=1), ranker.overview(DATA)):
        named = [text for text in (shown.to_text(), *texts_in(shown.to_dict())) if scale in text]
        assert named
        for text in (shown.to_text(), shown.to_markdown(), *texts_in(shown.to_dict())):
            assert not NUMBER_ALONE.search(text)


def test_values_are_raw_with_their_place_in_the_query(fitted):
    ranker, _ = fitted
    for share in ranker.explain(QUERY, 0).features:
        place = QUERY.feature_names.index(share.feature.removeprefix("baseline ranking "))
        assert float(share.value) == pytest.approx(QUERY.X[0, place], rel=0.01)
        assert share.standing == standing(QUERY.X[:, place], 0)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_the_same_in_all_documents_is_not_a_reason_of_the_service(kind):
    for result in rr.Reranker(KINDS[kind](normalize="zscore").fit(DATA)).rank("", QUERY, top=None):
        assert result.reasons
        assert "same" not in [reason.feature for reason in result.top_reasons(1)]


def test_categories_in_reasons_have_their_names():
    X = np.column_stack([np.tile([0.0, 1.0], 30), np.arange(60.0) % 7])
    data = rr.Dataset(
        X, X[:, 0], np.repeat([1, 2, 3], 20), feature_names=("brand", "n"), categories={"brand": ("A", "B")}
    )
    documents = [{"id": str(row), "features": {"brand": "AB"[row % 2], "n": row}} for row in range(10)]
    best = rr.Reranker(rr.GlobalRules(normalize="zscore").fit(data)).rank("", documents)[0]
    reason = next(reason for reason in best.reasons if reason.feature == "brand")
    assert (reason.value, reason.text) == ("B", "brand B, as in 5 of 10 documents")


@pytest.mark.parametrize("kind", KINDS)
def test_what_if_is_a_move_of_the_raw_value_that_predict_confirms(kind):
    ranker = KINDS[kind](normalize="zscore").fit(DATA)
    scores = ranker.predict(QUERY)
    row = int(scores.argmin())
    found = ranker.what_if(QUERY, row, above=float(scores.min() + 0.01))
    assert found
    for change in found:
        place = QUERY.feature_names.index(change.feature)
        assert change.now == written(QUERY.X[row, place])
        changed = QUERY.X.astype(np.float64)
        changed[row, place] += change.move
        assert change.then == written(changed[row, place])
        assert ranker.predict(changed, qid=QUERY.qid)[row] == pytest.approx(change.score, abs=1e-9)


def test_curves_and_the_overview_say_what_their_axis_is():
    overview = rr.FittedRules(normalize="zscore").fit(DATA).overview(DATA)
    meaning = "standard deviations above the query's mean"
    assert meaning in overview.to_text()
    assert overview.to_dict()["scale"] == "zscore"
    html = overview.to_html()
    assert html.count(meaning) >= len(overview.curves.curves)  # on each axis
    assert re.search(r"at z-score -?\d", overview.curves.to_text())


def test_tables_fit_the_terminal():
    ranker = rr.FittedRules(normalize="zscore").fit(DATA)
    texts = {"title": ["a title of some words " * 6] * len(DATA), "text": ["what a document says " * 12] * len(DATA)}
    data = rr.Dataset(DATA.X, DATA.y, DATA.qid, None, DATA.feature_names, texts=texts)
    query = data[data.qid == "q3"]
    ranking = ranker.explain_query(query, baseline="stock")
    for shown in (ranker.explain(query, 0, versus=1), ranking, ranker.overview(data)):
        assert max(map(len, shown.to_text().splitlines())) <= 100


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_keeps_numbers_and_words_whole(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    console = Console(width=width, file=io.StringIO())
    versus = rr.FittedRules(normalize="zscore").fit(DATA).explain(QUERY, 0, versus=1)
    console.print(rich_page(versus.page()))
    out = console.file.getvalue()
    assert max(map(len, out.splitlines())) <= width
    assert all(str(row[-1]) in out for row in versus.page().blocks[0].rows)
    assert {"price", "documents"} <= {*out.split()} or width < 80
    assert "…" not in out


def dated():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(20100, 20800, 240), rng.uniform(1, 9, 240)])
    names, qid = ("added", "price"), np.repeat(np.arange(12), 20)
    return rr.Dataset(X, np.digitize(X[:, 0], [20300, 20600]), qid, feature_names=names, dates=("added",))


@pytest.mark.parametrize("ranker", [rr.FittedRules(), rr.GlobalRules(), rr.QueryIntercepts(l2=1.0)], ids=repr)
def test_dates_are_dates_in_curves_effects_and_what_if(ranker):
    data = dated()
    ranker.fit(data)
    scores = ranker.predict(data)
    changes = ranker.what_if(data, int(scores.argmin()), above=float(np.median(scores)))
    for text in (ranker.overview(data).to_text(), ranker.curves(data).to_text(), *map(str, changes)):
        assert re.search(r"20\d\d-\d\d-\d\d", text) or "added" not in text
        assert not re.search(r"(?<![\d.-])20[1-8]\d\d(?![\d-])", text)
    assert re.search(r">2026-\d\d-\d\d</text>", ranker.curves(data).to_html())  # a label of the axis
