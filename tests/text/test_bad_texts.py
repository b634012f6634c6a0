"""What real texts hold: empty fields, huge ones, emoji, right-to-left, NUL, HTML, half characters."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.text.analyser import Analyser

ANALYSER = Analyser("en")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("👍 🎬 !!!", []),
        ("go 👍go", ["go", "go"]),
        ("a\x00b\x01c", ["a", "b", "c"]),
        ("<p class='x'>Fresh</p> milk<br/>box", ["fresh", "milk", "box"]),
        ("<!-- hidden --> seen", ["seen"]),
        ("3 < 4 and 5 > 2", ["3", "4", "and", "5", "2"]),
        ("fish &amp; chips &lt;raw&gt; &#0;&#1;", ["fish", "chip", "raw"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("東京タワー tower", ["東", "京", "タ", "ワ", "ー", "tower"]),
        ("हिन्दी", ["हिन्दी"]),
        ("Amélie NAÏVE Ｘ２", ["ameli", "naiv", "x2"]),
        ("snake_case", ["snake", "case"]),
        ("x" * 100_000, ["x" * 100_000]),
    ],
)
def test_words_of_odd_texts(text, words):
    assert ANALYSER.words(text) == words


def test_odd_texts_beside_each_other_are_read_as_if_alone():
    odd = [
        "<b",
        "> milk",
        "a &am",
        "p; b",
        "é\u0301",
        "\x00",
        "東",
        "<!-- never closed",
        "milk -->",
        None,
        ["a", "<i", "b>"],
    ]
    kinds = {"title": "title"}
    batch = rr.TextFeatures(kinds, ["length(title)"]).fit(
        rr.Documents([str(i) for i in range(len(odd))], {"title": odd})
    )
    together = batch.for_query("milk", list(batch.ids_)).X[:, 0]
    for place, text in enumerate(odd):
        alone = batch.for_query("milk", [{"title": text}]).X[0, 0]
        assert np.array_equal(alone, together[place], equal_nan=True)


def test_a_megabyte_in_one_field():
    long = "word " * 200_000 + "needle"
    texts = rr.Documents(["1", "2"], {"text": [long, "needle here"]})
    features = rr.TextFeatures({"text": "long text"}, ["length(text)", "bm25(text)"]).fit(texts)
    data = features.for_query("needle")
    assert data.docid.tolist() == ["2", "1"]
    assert data.X[1, 0] == 200_001


def test_empty_fields_and_documents_of_nothing():
    texts = rr.Documents(["1", "2"], {"title": [None, "milk"], "gone": [None, None]})
    features = rr.TextFeatures(features=["bm25(title)", "bm25(all)", "length(all)"]).fit(texts)
    assert [field.kind for field in features.fields_] == ["title", "empty"]
    assert np.isnan(features.for_query("milk", ["1"]).X).all()


@pytest.mark.parametrize("query", ["", " ", "👍", "\x00", "<b></b>", "שלום", "milk " * 3000])
def test_any_query_has_features(query):
    texts = rr.Documents(["1", "2"], {"title": ["milk", "שלום"], "year": [1999, 2000]})
    data = rr.TextFeatures(features="all").fit(texts).for_query(query, ["1", "2"])
    assert data.X.shape == (2, len(data.feature_names))
