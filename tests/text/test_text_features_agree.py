"""Text features against the plain way, bm25s, and themselves in batches and files."""

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain import text_features as plain
from rulerank.errors import DataError
from rulerank.text.text_features import pack_strings

WORDS = ["milk", "fresh", "x", "2", "sugar", "red", "box"]

word_lists = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)

documents = st.lists(st.tuples(word_lists, st.lists(word_lists, min_size=1, max_size=3)), min_size=1, max_size=6)


def texts_of(docs):
    fields = {
        "title": [" ".join(title) for title, _ in docs],
        "tags": [[" ".join(item) for item in items] for _, items in docs],
        "price": [float(i) for i in range(len(docs))],
    }
    return rr.Documents([f"d{i}" for i in range(len(docs))], fields)


KINDS = {"title": "title", "tags": "list", "price": "number"}


def fitted(docs, **parameters):
    return rr.TextFeatures(KINDS, "all", "none", **parameters).fit(texts_of(docs))


@given(documents, word_lists)
def test_every_feature_agrees_with_the_plain_way(docs, query):
    features = fitted(docs)
    fields = [[title, [word for item in items for word in item]] for title, items in docs]
    data = features.for_query(" ".join(query), list(features.ids_))
    for row, (title, items) in enumerate(docs):
        found = dict(zip(data.feature_names, data.X[row].tolist(), strict=True))
        both = [*title, *fields[row][1]]
        wanted = {
            "bm25(all)": plain.bm25(fields, [3, 1], query, row),
            "covered(title)": plain.covered(fields, query, title),
            "covered(all)": plain.covered(fields, query, both),
            "covered(best)": max(plain.covered(fields, query, field) for field in fields[row]),
            "cosine(title)": plain.cosine(fields, query, title),
            "cosine(all)": plain.cosine(fields, query, both),
            "run(title)": plain.run(query, [title]),
            "run(tags)": plain.run(query, items),
            "exact(title)": title == query,
            "exact(tags)": query in items,
            "length(tags)": len(fields[row][1]),
            "length(all)": len(both),
            "grams(title)": plain.grams(" ".join(query), " ".join(title)),
            "price": row,
        }
        for name, value in wanted.items():
            assert found[name] == pytest.approx(float(value), rel=1e-5, abs=1e-6), name


@given(st.lists(word_lists, min_size=2, max_size=6), word_lists)
def test_bm25_equals_bm25s(docs, query):
    query = [word for word in query if any(word in doc for doc in docs)] or docs[0][:1]
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index(docs, show_progress=False)
    texts = rr.Documents([str(i) for i in range(len(docs))], {"body": [" ".join(doc) for doc in docs]})
    features = rr.TextFeatures({"body": "text"}, ["bm25(body)", "bm25(all)"], "none").fit(texts)
    data = features.for_query(" ".join(query), list(features.ids_))
    expected = peer.get_scores(query)
    assert data.X[:, 0] == pytest.approx(expected, rel=1e-5)
    assert data.X[:, 1] == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.tuples(word_lists, word_lists), min_size=2, max_size=6), word_lists)
def test_bm25_of_all_fields_is_bm25s_with_the_title_three_times(docs, query):
    query = [word for word in query if any(word in title + body for title, body in docs)] or docs[0][0][:1]
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index([title * 3 + body for title, body in docs], show_progress=False)
    fields = {"title": [" ".join(title) for title, _ in docs], "body": [" ".join(body) for _, body in docs]}
    texts = rr.Documents([str(i) for i in range(len(docs))], fields)
    features = rr.TextFeatures({"title": "title", "body": "text"}, ["bm25(all)"], "none").fit(texts)
    data = features.for_query(" ".join(query), list(features.ids_))
    assert data.X[:, 0] == pytest.approx(peer.get_scores(query), rel=1e-5)


@given(documents, st.lists(word_lists, min_size=1, max_size=4), st.integers(1, 8))
def test_candidates_are_the_best_by_bm25_and_equal_ones_in_their_order(docs, asked, top):
    features = fitted(docs)
    queries = rr.Queries([f"q{i}" for i in range(len(asked))], [" ".join(query) for query in asked])
    for query, words in zip(queries.texts, asked, strict=True):
        every = features.for_query(query, list(features.ids_))
        scores = every.X[:, every.feature_names.index("bm25(all)")]
        exact = [
            plain.bm25([[t, [word for item in i for word in item]] for t, i in docs], [3, 1], words, row)
            for row in range(len(docs))
        ]
        best = sorted((row for row in range(len(docs)) if exact[row] > 0), key=lambda row: (-scores[row], row))[:top]
        found = features.for_query(query, top=top)
        # float32 may call scores equal that are not: compare what they are worth
        assert found.X[:, every.feature_names.index("bm25(all)")].tolist() == scores[best].tolist()


@settings(max_examples=25)
@given(documents, st.lists(word_lists, min_size=1, max_size=4))
def test_a_feature_is_the_same_bits_alone_in_a_batch_and_on_any_number_of_threads(docs, asked):
    texts = texts_of(docs)
    asked = [[docs[0][0][0], *query] for query in asked]  # a word that some document has
    queries = rr.Queries([f"q{i}" for i in range(len(asked))], [" ".join(query) for query in asked])
    batches = []
    for n_jobs in (1, 2):
        features = rr.TextFeatures(KINDS, "all", "none", n_jobs=n_jobs).fit(texts)
        batches.append(features.dataset(queries, top=3))
    assert batches[0].X.tobytes() == batches[1].X.tobytes()
    text_of = dict(zip(queries.ids, queries.texts, strict=True))
    place = {one: i for i, one in enumerate(texts.ids)}
    for row in range(len(batches[0])):
        query, doc = text_of[batches[0].qid[row]], batches[0].docid[row]
        bits = batches[0].X[row].tobytes()
        assert features.for_query(query, [doc]).X.tobytes() == bits
        as_dict = {name: values[place[doc]] for name, values in texts.fields.items()}
        assert features.for_query(query, [as_dict]).X.tobytes() == bits


@pytest.fixture(scope="module")
def rich():
    """Return features of documents with every kind of field, embedded."""
    rng = np.random.default_rng(0)
    docs = [
        (list(rng.choice(WORDS, 4)), [list(rng.choice(WORDS, 3)) for _ in range(rng.integers(1, 4))]) for _ in range(60)
    ]
    texts = texts_of(docs)
    fields = texts.fields | {
        "brand": [["sony", "lg", None][i % 3] for i in range(60)],
        "vector": [rng.normal(size=4).tolist() for _ in range(60)],
        "day": [f"2024-01-{i % 28 + 1:02d}" for i in range(60)],
        "made": [1990 + i % 30 for i in range(60)],
    }
    return rr.TextFeatures(features="all", embed="lsa").fit(rr.Documents(texts.ids, fields))


def test_the_saved_file_gives_the_same_bits(rich, tmp_path):
    rich.save(tmp_path / "text.rulerank")
    data = rich.for_query("fresh milk 1995", vectors={"vector": [1, 2, 3, 4]}, top=30)
    assert (len(data), data.categories) == (30, {"brand": ("lg", "sony")})
    again = rr.load(tmp_path / "text.rulerank")
    found = again.for_query("fresh milk 1995", vectors={"vector": [1, 2, 3, 4]}, top=30)
    assert (found.X.tobytes(), found.docid.tolist()) == (data.X.tobytes(), data.docid.tolist())
    again.save(tmp_path / "again.rulerank")
    assert (tmp_path / "again.rulerank").read_bytes() == (tmp_path / "text.rulerank").read_bytes()


def change(part, **values):
    """Return what changes arrays of a saved state; a function is called with what is there."""

    def apply(state):
        place = state[part]
        for name, value in values.items():
            place[name] = value(place[name]) if callable(value) else value

    return apply


def first(edit):
    """Return what edits the array of the first entry of a list of [name, array] pairs."""
    return lambda pairs: [[pairs[0][0], *map(edit, pairs[0][1:])], *pairs[1:]]


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (change("documents", tokens=lambda tokens: tokens + 1000), "the index has words that its vocabulary lacks"),
        (change("documents", starts=lambda starts: -starts), "the words of the documents do not lie in a row"),
        (change("documents", lengths=lambda own: own.astype(float)), r"its lengths must be int32 .*: got float64 \["),
        (change("documents", norms=lambda norms: norms * np.nan), "its norms must be finite numbers"),
        (change("documents", letters=first(lambda own: own[::-1])), "the letters of the documents do not lie in a row"),
        (change("documents", letters=first(lambda own: own[1:])), r"its letters of .* must be int64 \[61\]: got .*60"),
        (change("documents", columns=first(lambda own: own[1:])), r"its column 'price' must be float64 \[60\]: got"),
        (change("documents", columns=lambda pairs: pairs[1:]), "its columns do not fit its fields"),
        (change("documents", vectors=first(lambda own: own[1:])), "its vectors 'vector' must be float32"),
        (change("documents", meanings=first(lambda own: own[1:])), "its embeddings 'title' must be float16"),
        (
            change("documents", shown=lambda own: [[own[0][0], own[0][1] | {"ends": own[0][1]["ends"][::-1]}]]),
            "its texts do not lie in a row",
        ),
        (change("documents", shown=lambda own: [[own[0][0], pack_strings(["a"])]]), "its texts are of another number"),
        (change("collection", idf=lambda idf: idf * np.inf), "its idf must be finite numbers"),
        (
            change("collection", fields=lambda own: [["title", "novel", 1.0], *own[1:]]),
            "a field has a kind that is not",
        ),
        (change("collection", vocabulary=lambda _: pack_strings(["a", "a"])), "its words do not differ"),
        (change("collection", kinds=[]), "its categories or vectors do not fit its fields"),
        (change("collection", meaning=lambda own: own | {"probe": own["probe"][:2]}), "its embedder is not described"),
        (
            change("collection", meaning=lambda own: own | {"kept": own["kept"] + 1000}),
            "the vectors of its words do not",
        ),
    ],
)
def test_a_file_that_would_let_loops_read_beyond_their_arrays_is_refused(rich, apply, message):
    state = rich.to_state()
    apply(state)
    with pytest.raises(DataError, match=message):
        rr.TextFeatures.from_state(state)
