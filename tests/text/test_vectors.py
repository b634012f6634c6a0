"""Vectors of a collection: the file that keeps them, the embedder that must be the same, and dense candidates."""

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank import model_file
from rulerank.errors import DataError, EmbeddingError
from rulerank.text import vectors
from rulerank.text.candidates import nearest
from rulerank.text.vectors import alike, read_vectors, unit
from rulerank.web.endpoint import Endpoint

DOCUMENTS = rr.Documents(
    ["car", "auto", "salad", "pie", "nothing"],
    {
        "title": ["red car", "automobile", "fruit salad", "apple pie", None],
        "text": ["a fast vehicle", "repair of a vehicle", "banana and apple", "baking with fruit", None],
    },
)
KINDS = {"title": "title", "text": "text"}
AXES = {"car": 0, "automobile": 0, "vehicle": 0, "fruit": 1, "apple": 1, "banana": 1, "repair": 2, "baking": 3}


class Counting:
    """An embedder that counts words of a few meanings, and texts that it was asked for."""

    batch = 2
    version = "1"

    def __init__(self, name="static"):
        self.name, self.asked, self.fails_after = name, [], None

    def __call__(self, texts):
        if self.fails_after is not None and len(self.asked) >= self.fails_after:
            raise KeyboardInterrupt
        self.asked += texts
        rows = np.full((len(texts), 4), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.replace(".", "").split():
                row[AXES.get(word, 3)] += 1
        return rows if self.name == "static" else rows[:, ::-1]


@pytest.fixture
def embedder(monkeypatch):
    """Return the embedder that every name opens; a name other than static gives other vectors."""
    made = {}
    monkeypatch.setattr(vectors, "open_embedder", lambda name: made.setdefault(name, Counting(name)))
    return lambda name="static": made.setdefault(name, Counting(name))


def fitted(**parameters):
    cache = parameters.pop("cache", None)
    return rr.TextFeatures(KINDS, language="none", embed="static", **parameters).fit(DOCUMENTS, cache)


def meaning_of(data):
    return data.X[:, data.feature_names.index("meaning(all)")]


def test_meaning_is_the_cosine_with_the_middle_of_title_and_text(embedder):
    features = fitted(features=["meaning(all)", "meaning(title)", "meaning(text)"])
    data = features.for_query("vehicle repair", list(features.ids_))
    query, title, text = (
        unit(embedder()([one])).astype(float)[0] for one in ("vehicle repair", "red car", "a fast vehicle")
    )
    whole = unit(embedder()(["red car. a fast vehicle"])).astype(float)[0] + title
    wanted = [whole @ query / np.linalg.norm(whole), title @ query, text @ query]
    assert data.X[0] == pytest.approx(wanted, abs=2e-3)
    assert np.isnan(data.X[4]).all()  # a document without texts has no meaning
    assert np.isnan(features.for_query("", ["car"]).X).all()


def test_batches_single_queries_dicts_files_and_pickles_give_the_same_bits(embedder, tmp_path):
    features = fitted(candidates="hybrid")
    queries = rr.Queries(["a", "b"], ["vehicle", "apple fruit"])
    data = features.dataset(queries)
    features.save(tmp_path / "text.rulerank")
    for again in (features, rr.load(tmp_path / "text.rulerank"), pickle.loads(pickle.dumps(features))):
        for qid, text in zip(queries.ids, queries.texts, strict=True):
            rows = data[data.qid == qid]
            one = again.for_query(text)
            assert one.docid.tolist() == rows.docid.tolist()
            assert np.array_equal(one.X, rows.X, equal_nan=True)
            dicts = [{n: DOCUMENTS.fields[n][[*DOCUMENTS.ids].index(d)] for n in KINDS} for d in rows.docid]
            assert np.array_equal(again.for_query(text, dicts).X, rows.X, equal_nan=True)


def test_large_vectors_stay_in_the_file_and_give_the_same_bits(embedder, tmp_path, monkeypatch):
    path = tmp_path / "text.rulerank"
    wanted = fitted(candidates="hybrid").for_query("vehicle")
    fitted(candidates="hybrid").save(path)
    monkeypatch.setattr(model_file, "MAPPED", 0)
    again = rr.load(path)
    rows = again.documents_.meanings["all"]
    assert isinstance(rows.base, np.memmap)
    assert not rows.flags.writeable
    before = path.read_bytes()
    again.save(path)  # the file is replaced, not written over
    assert path.read_bytes() == before
    for features in (again, pickle.loads(pickle.dumps(again))):
        assert np.array_equal(features.for_query("vehicle").X, wanted.X, equal_nan=True)


def test_a_query_is_embedded_once(embedder):
    features = fitted(features="all", candidates="hybrid")
    embedder().asked.clear()
    features.for_query("vehicle")
    assert embedder().asked == ["vehicle"]


def test_another_embedder_is_refused_and_one_that_moved_is_not(embedder, tmp_path, monkeypatch):
    fitted().save(tmp_path / "text.rulerank")
    monkeypatch.setenv("RULERANK_EMBED", "onnx:elsewhere")
    features = rr.load(tmp_path / "text.rulerank")
    with pytest.raises(EmbeddingError, match=r"onnx:elsewhere \(1\) gives other vectors than static \(1\), which the"):
        features.for_query("vehicle")
    embedder("onnx:elsewhere").name = "static"
    assert meaning_of(features.for_query("vehicle", ["car"]))[0] > 0.5


def test_a_service_refuses_another_embedder_when_it_starts(embedder, tmp_path, monkeypatch):
    features = fitted()
    data = features.dataset(rr.Queries(["q"], ["vehicle apple"]), rr.Qrels(["q", "q"], ["car", "pie"], [1, 0]))
    rr.Reranker(rr.QueryIntercepts(missing="mean").fit(data), features).save(tmp_path / "model.rulerank")
    assert rr.load(tmp_path / "model.rulerank").warm().rank("vehicle")[0].id == "car"
    monkeypatch.setenv("RULERANK_EMBED", "onnx:other")
    with pytest.raises(EmbeddingError, match=r"onnx:other .* gives other vectors than static"):
        rr.load(tmp_path / "model.rulerank").warm()
    refusal = Endpoint.refusal_of(None, EmbeddingError("the server does not answer"))
    assert (refusal.status, refusal.code) == (503, "no_embedding")


def test_the_cache_embeds_only_what_it_lacks(embedder, tmp_path):
    cache = tmp_path / "vectors"
    first = fitted(cache=cache)
    n_first = len(embedder().asked)
    again = fitted(cache=cache)
    assert embedder().asked[n_first:] == [*vectors.PROBES]
    assert np.array_equal(first.documents_.meanings["all"], again.documents_.meanings["all"])
    assert np.array_equal(first.documents_.meanings["all"], fitted().documents_.meanings["all"])
    more = rr.Documents(["new", *DOCUMENTS.ids], {n: ["baking", *DOCUMENTS.fields[n]] for n in KINDS})
    embedder().asked.clear()
    rr.TextFeatures(KINDS, language="none", embed="static").fit(more, cache)
    assert embedder().asked == [*vectors.PROBES, "baking. baking", "baking"]


def test_what_was_killed_goes_on_where_it_was(embedder, tmp_path):
    cache = tmp_path / "vectors"
    embedder().fails_after = 6  # the probes' three, rounded up to whole batches, and one batch of texts
    with pytest.raises(KeyboardInterrupt):
        fitted(cache=cache)
    asked = [text for text in embedder().asked if text not in vectors.PROBES]
    with cache.open("ab") as file:
        file.write(b"half a record")
    embedder().fails_after = None
    embedder().asked.clear()
    again = fitted(cache=cache)
    assert asked
    assert not {*asked} & {*embedder().asked}
    assert np.array_equal(again.documents_.meanings["all"], fitted().documents_.meanings["all"])


def test_a_cache_of_another_embedder_is_begun_anew(embedder, tmp_path):
    cache = tmp_path / "vectors"
    fitted(cache=cache)
    other = rr.TextFeatures(KINDS, language="none", embed="onnx:other")
    with pytest.warns(UserWarning, match="vectors: its vectors are from a different embedder; computing all again"):
        other.fit(DOCUMENTS, cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.fit(DOCUMENTS, cache)


def test_a_file_that_is_no_cache_stays(embedder, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"notes\.txt exists and has no vectors: remove it, or name another file"):
        fitted(cache=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_dense_candidates_need_no_common_word(embedder):
    assert fitted().for_query("banana car").docid.tolist() == ["car", "salad"]
    assert fitted(candidates="dense").for_query("automobile", top=2).docid.tolist() == ["auto", "car"]
    hybrid = fitted(candidates="hybrid").for_query("automobile", top=3)
    assert hybrid.docid.tolist()[:2] == ["auto", "car"]
    assert "nothing" not in fitted(candidates="dense").for_query("automobile").docid
    assert len(fitted(candidates="dense").for_query("")) == 0


def test_fields_of_vectors_give_candidates_too():
    documents = rr.Documents(["a", "b", "c"], {"title": ["x", "y", "z"], "embedding": [[1.0, 0], [0, 2], [3, 3]]})
    features = rr.TextFeatures(candidates="dense").fit(documents)
    found = features.for_query("none of these", vectors={"embedding": [0.0, 5.0]})
    assert found.docid.tolist() == ["b", "c", "a"]
    assert found.X[:, found.feature_names.index("cosine(embedding)")] == pytest.approx([1, 0.5**0.5, 0])


def test_dense_candidates_without_vectors_are_refused():
    with pytest.raises(DataError, match="dense candidates need vectors: name an embedder, or a field of vectors"):
        rr.TextFeatures(candidates="dense").fit(DOCUMENTS)
    with pytest.raises(DataError, match="unknown candidates 'sparse'; choose from bm25, dense, hybrid"):
        rr.TextFeatures(candidates="sparse").fit(DOCUMENTS)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 12), st.integers(0, 99))
def test_nearest_is_the_order_of_all_cosines(n_docs, n_queries, top, seed):
    rng = np.random.default_rng(seed)
    rows = unit(rng.integers(1, 4, (n_docs, 3)).astype(np.float32)).astype(np.float32)
    queries = unit(rng.integers(-2, 3, (n_queries, 3)).astype(np.float32)).astype(np.float32)
    for query, found in zip(queries, nearest(np.arange(n_docs), rows, queries, top, 1), strict=True):
        there = range(n_docs) if query.any() else []
        wanted = sorted((round(float(rows[doc] @ query), 4) for doc in there), reverse=True)[:top]
        assert [round(float(rows[doc] @ query), 4) for doc in found] == wanted


def test_alike_tells_embedders_apart():
    rows = unit(np.array([[1, 2], [0, 0], [3, 1]], dtype=np.float32))
    assert alike(rows, rows)
    assert not alike(rows, rows[:, ::-1])
    assert not alike(rows, np.zeros_like(rows))
    assert not alike(rows, rows[:2])


def test_vectors_lie_in_a_npy_file_beside_the_texts(tmp_path):
    np.save(tmp_path / "docs.npy", np.array([[1.0, 2], [3, 4]]))
    assert read_vectors(tmp_path / "docs.jsonl.gz", 2).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match=r"docs\.npy: expected 3 rows of finite numbers, .*: got 2 x 2 values"):
        read_vectors(tmp_path / "docs.tsv", 3)
    with pytest.raises(DataError, match=r"cannot read the vectors of .*queries\.tsv: .*queries\.npy: .*No such file"):
        read_vectors(tmp_path / "queries.tsv", 1)
    documents = rr.Documents(["a", "b"], {"title": ["x", "y"], "embedding": read_vectors(tmp_path / "docs.tsv", 2)})
    features = rr.TextFeatures(features=["cosine(embedding)"]).fit(documents)
    assert features.for_query("x", ["b"], vectors={"embedding": [3, 4]}).X.tolist() == [[1]]
    with pytest.raises(DataError, match="vectors of field 'embedding' must have 2 numbers: got 3"):
        features.dataset(rr.Queries(["q"], ["x"], {"embedding": np.ones((1, 3))}))


def test_lists_of_parquet_are_vectors(tmp_path):
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["x", "y"], "vector": [[1.0, 0.0], [0.6, 0.8]]})
    frame.write_parquet(tmp_path / "docs.parquet")
    queries = pl.DataFrame({"qid": ["q"], "query": ["x y"], "vector": [[0.0, 1.0]]})
    queries.write_parquet(tmp_path / "queries.parquet")
    features = rr.TextFeatures(features=["cosine(vector)"]).fit(rr.read_documents(tmp_path / "docs.parquet"))
    assert features.dataset(rr.read_queries(tmp_path / "queries.parquet")).X[:, 0] == pytest.approx([0, 0.8])
