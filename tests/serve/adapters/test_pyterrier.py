"""The transformer ranks and learns in PyTerrier's pipelines, with the query of every row. No Java is started."""

import numpy as np
import pandas as pd
import pytest

import rulerank as rr
from rulerank.errors import DataError


@pytest.fixture
def module(adapter):
    return adapter("pyterrier", "pyterrier")


@pytest.fixture
def topics(shop):
    return pd.DataFrame({"qid": shop.queries.ids, "query": shop.queries.texts}).head(8)


@pytest.fixture
def qrels(shop):
    frame = pd.DataFrame({"qid": shop.qrels.qid, "docno": shop.qrels.docid, "label": shop.qrels.grade})
    return frame.astype({"qid": str, "docno": str, "label": int})


@pytest.fixture
def results(shop, features, topics):
    """Results of queries as a PyTerrier retriever gives them, with a column of features."""
    rows = []
    for qid, query in zip(topics["qid"], topics["query"], strict=True):
        data = features.for_query(query, top=12)
        for place, (docno, x) in enumerate(zip(data.docid, data.X.astype(np.float64), strict=True)):
            rows.append((qid, query, docno, float(-place), place, x))
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank", "features"])


def java_runs():
    import pyterrier as pt

    return pt.java.started()


def test_examples_run(module, examples_run):
    examples_run(module)
    assert not java_runs()


def test_results_are_ranked_by_the_reranker_query_by_query(module, reranker, results):
    out = module.RulerankTransformer(reranker, n_reasons=2)(results)
    assert len(out) == len(results)
    assert out["docno"].tolist() == results["docno"].tolist()
    for qid, part in out.groupby("qid"):
        expected = reranker.rank(part["query"].iloc[0], part["docno"].tolist(), top=None)
        ordered = part.sort_values("rank")
        assert ordered["docno"].tolist() == expected.ids, qid
        assert ordered["score"].tolist() == expected.scores
        assert ordered["rank"].tolist() == list(range(len(expected)))
        assert ordered["reasons"].iloc[0] == [str(reason) for reason in expected[0].top_reasons(2)]
    assert "reasons" not in results.columns
    assert "reasons" not in module.RulerankTransformer(reranker)(results).columns


def test_texts_in_columns_are_ranked_as_they_are(module, reranker, shop, results):
    texts = pd.DataFrame(shop.records).rename(columns={"id": "docno"})
    wide = results.drop(columns="features").merge(texts, on="docno")
    by_text = module.RulerankTransformer(reranker)(wide)
    by_id = module.RulerankTransformer(reranker)(results)
    pairs = ["qid", "docno"]
    assert by_text.sort_values(pairs)["score"].tolist() == by_id.sort_values(pairs)["score"].tolist()


def test_queries_alone_are_answered_from_the_index(module, reranker, topics):
    import pyterrier as pt

    out = module.RulerankTransformer(reranker, candidates=7, n_reasons=1)(topics)
    for qid, part in out.groupby("qid", sort=False):
        query = topics[topics["qid"] == qid]["query"].iloc[0]
        expected = reranker.rank(query, candidates=7, top=None)
        assert part["docno"].tolist() == expected.ids
        assert part["rank"].tolist() == list(range(len(expected)))
        assert part["query"].iloc[0] == query
    cut = (module.RulerankTransformer(reranker) % 3).search(topics["query"].iloc[0])
    assert cut["docno"].tolist() == reranker.rank(topics["query"].iloc[0], top=3).ids
    assert isinstance(module.RulerankTransformer(reranker), pt.Transformer)
    empty = module.RulerankTransformer(reranker)(topics.head(0))
    assert len(empty) == 0
    assert {"docno", "score", "rank"} <= {*empty.columns}


def test_a_pipeline_learns_with_the_query_of_every_row(module, results, qrels, features):
    import pyterrier as pt

    learner = module.RulerankTransformer(rr.GlobalRules(normalize="zscore"), feature_names=features.feature_names_)
    pipeline = pt.Transformer.from_df(results) >> learner
    pipeline.fit(results[["qid", "query"]].drop_duplicates(), qrels)
    grade = {(qid, docno): label for qid, docno, label in qrels[["qid", "docno", "label"]].values}
    data = rr.Dataset(
        np.stack(results["features"].to_numpy()),
        [grade.get(pair, 0) for pair in zip(results["qid"], results["docno"], strict=True)],
        results["qid"].to_numpy(dtype=object),
        feature_names=features.feature_names_,
    )
    expected = rr.GlobalRules(normalize="zscore").fit(data).predict(data)
    out = learner(results)
    assert out["score"].tolist() == expected.tolist()
    again = pipeline(results[["qid", "query"]].drop_duplicates())
    assert again.sort_values(["qid", "docno"])["score"].tolist() == out.sort_values(["qid", "docno"])["score"].tolist()
    shuffled = out.sample(frac=1, random_state=0)
    assert learner(shuffled)["score"].tolist() == shuffled["score"].tolist()
    assert not java_runs()


def test_negative_labels_and_unjudged_documents_are_grade_0(module, results, qrels):
    marked = qrels.assign(label=qrels["label"].where(qrels["label"] > 0, -2))
    one = module.RulerankTransformer(rr.GlobalRules()).fit(results, qrels)
    two = module.RulerankTransformer(rr.GlobalRules()).fit(results, marked[marked["label"] > 0])
    assert one(results)["score"].tolist() == two(results)["score"].tolist()


def test_what_does_not_fit_is_refused(module, reranker, results, qrels, topics):
    new = module.RulerankTransformer(rr.GlobalRules())
    fitted = module.RulerankTransformer(rr.GlobalRules()).fit(results, qrels)
    for call, message in [
        (lambda: new(results), r"the ranker GlobalRules\(\) is not fitted: call fit\(results, qrels\) first"),
        (lambda: module.RulerankTransformer(reranker).fit(results, qrels), "fit needs a ranker to fit: RulerankTransf"),
        (lambda: new.fit(results.drop(columns="features"), qrels), "docno and features: features is missing"),
        (lambda: new.fit(results, qrels.drop(columns="label")), "with qid, docno, label: label is missing"),
        (lambda: new.fit(results.head(0), qrels), "fit needs results: got none"),
        (lambda: fitted(results[["query", "docno"]]), "expected a data frame with a qid: got the columns query, docno"),
        (lambda: fitted(topics), "expected results with a docno: got the columns qid, query"),
        (lambda: fitted(results.assign(features="x")), "the column features must hold arrays of numbers, all of one l"),
        (lambda: fitted(results.assign(features=[x[1:] for x in results["features"]])), "expected 18 feature names"),
    ]:
        with pytest.raises(DataError, match=message):
            call()
