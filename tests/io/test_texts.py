"""Documents, queries and judgements: every form that is read, and every message."""

import gzip
import io

import polars as pl
import pytest

import rulerank as rr
from rulerank.errors import DataError, ReadError


class Named(io.BytesIO):
    def __init__(self, text, name):
        super().__init__(text if isinstance(text, bytes) else text.encode())
        self.name = name


def docs(text, name="docs.jsonl"):
    return rr.read_documents(Named(text, name))


def test_documents_in_every_form_are_the_same(tmp_path):
    frame = pl.DataFrame({"id": ["a", "b"], "title": ["Fresh milk", None], "price": [1.5, 2.0], "tags": [["x"], []]})
    frame.write_parquet(tmp_path / "docs.parquet")
    lines = '{"id": "a", "title": "Fresh milk", "price": 1.5, "tags": ["x"]}\n\n{"id": "b", "price": 2.0, "tags": []}\n'
    (tmp_path / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for source in (frame, tmp_path / "docs.parquet", tmp_path / "docs.jsonl.gz"):
        texts = rr.read_documents(source)
        assert texts.ids.tolist() == ["a", "b"]
        assert dict(texts.fields) == {"title": ["Fresh milk", None], "price": [1.5, 2.0], "tags": [["x"], None]}
    table = docs('docid,title,price\na,Fresh milk,1.5\n7,"",NA\n', "docs.csv")
    assert table.ids.tolist() == ["a", "7"]
    assert dict(table.fields) == {"title": ["Fresh milk", None], "price": ["1.5", None]}


def test_numbers_may_be_ids_and_half_characters_are_replaced():
    texts = docs('{"id": 7, "title": "a\\ud800b"}')
    assert (texts.ids.tolist(), list(texts.fields["title"])) == (["7"], ["a\ufffdb"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "docs.jsonl: the file is empty"),
        ('{"id": 1}\nhello', "docs.jsonl:2: expected one JSON object per line: Expecting value"),
        ('{"id": 1}\n7', "docs.jsonl:2: expected one JSON object per line, got '7'"),
        ('[\n{"id": 1}]', "docs.jsonl:1: expected one JSON object per line: "),
        (
            '{"title": "a"}',
            "docs.jsonl: no column is the document id: name it id or docid or .*; the columns are title",
        ),
        (
            '{"id": 1}\n{"title": "a"}',
            "docs.jsonl:2: expected a document id in 'id', text or a whole number, got nothing",
        ),
        ('{"id": ""}', "docs.jsonl:1: expected a document id in 'id', text or a whole number, got nothing"),
        ('{"id": [1]}', r"docs.jsonl:1: expected a document id in 'id', text or a whole number, got \[1\]"),
        (
            '{"id": 1}\n{"id": 2}\n{"id": "1"}',
            "docs.jsonl:3: document ids must differ: '1' appears twice, first in line 1",
        ),
        (
            '{"id": 1, "a": {"b": 1}}\n{"id": 2, "a": "x"}',
            "docs.jsonl:1: field 'a' must hold text, a number, or a list of texts or of numbers",
        ),
        (
            '{"id": 1, "a": ["b", 1]}',
            "docs.jsonl:1: field 'a' must hold text, a number, or a list of texts or of numbers",
        ),
        ('{"id": 1, "a": [1, NaN]}', "docs.jsonl:1: expected finite numbers in the list 'a'"),
        (b'{"id": "\xff"}', "docs.jsonl:1: expected UTF-8 text, got the byte 0xff"),
    ],
)
def test_a_mistake_in_documents_is_named_by_file_and_line(text, message):
    with pytest.raises(ReadError, match=f"^{message}"):
        docs(text)


def test_texts_made_by_hand_are_checked():
    with pytest.raises(DataError, match="document ids must differ: 'a' appears twice, at 0 and 1"):
        rr.Documents(["a", "a"], {})
    with pytest.raises(DataError, match="every document needs an id: number 1 has none"):
        rr.Documents(["a", ""], {})
    with pytest.raises(DataError, match="field 'title' must have one value per document: expected 1, got 2"):
        rr.Documents(["a"], {"title": ["x", "y"]})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("301\tOrganized & Crime\n302\tb c\n", "queries.tsv"),
        ("qid\tquery\n301\tOrganized & Crime\n302\tb c\n", "queries.tsv"),
        ("query_id,query\n301,Organized & Crime\n302,b c\n", "queries.csv"),
        ('{"_id": "301", "text": "Organized & Crime"}\n{"_id": "302", "text": "b c"}', "queries.jsonl"),
        ("query_id\tquery\tdoc_id\n301\tOrganized & Crime\ta\n301\tOrganized & Crime\tb\n302\tb c\ta\n", "j.tsv"),
    ],
)
def test_queries_in_every_form_are_the_same(text, name):
    queries = rr.read_queries(Named(text, name))
    assert (queries.ids.tolist(), list(queries.texts)) == (["301", "302"], ["Organized & Crime", "b c"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n1\tb\n", "q.tsv:2: query '1' has two texts: 'b', but 'a' in line 1"),
        ("1\ta\n\tb\n", "q.tsv:2: expected a query id in 'qid', text or a whole number, got nothing"),
        ("qid\tx\n1\ta\n", "q.tsv: no column is the query's text: name it query or query_text or text or title or q; "),
    ],
)
def test_a_mistake_in_queries_is_named_by_file_and_line(text, message):
    with pytest.raises(ReadError, match=f"^{message}"):
        rr.read_queries(Named(text, "q.tsv"))


def test_queries_made_by_hand_are_checked():
    with pytest.raises(DataError, match="every query needs a text: 2 ids, 1 texts"):
        rr.Queries(["a", "b"], ["x"])
    with pytest.raises(DataError, match="query ids must differ: 'a' appears twice"):
        rr.Queries(["a", "a"], ["x", "y"])
    with pytest.raises(DataError, match="the text of a query must be text: got 3"):
        rr.Queries(["a"], [3])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("q 0 a 2\nq 0 b 0\n", "qrels.txt"),
        ("qid,docid,grade\nq,a,2\nq,b,0\n", "judged.csv"),
        ("query_id\tquery\tdoc_id\tgrade\nq\tmilk\ta\t2\nq\tmilk\tb\t0.0\n", "judged.tsv"),
        ('{"qid": "q", "docid": "a", "rating": 2}\n{"qid": "q", "docid": "b", "rating": 0}', "judged.jsonl"),
    ],
)
def test_judgements_in_every_form_are_the_same(text, name):
    qrels = rr.io.read_judgements(Named(text, name))
    assert [qrels.qid.tolist(), qrels.docid.tolist(), qrels.grade.tolist()] == [["q", "q"], ["a", "b"], [2, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,docid,grade\nq,a,good\n", "j.csv:2: expected a whole number in 'grade', got 'good'"),
        ("qid,docid,grade\nq,a,1.5\n", r"j.csv:2: expected a whole number in 'grade', got '1.5'"),
        ("qid,docid,grade\nq,a,\n", "j.csv:2: expected a whole number in 'grade', got None"),
        ("qid,docid,grade\nq,a,1\nq,a,1\n", "j.csv:3: document 'a' of query 'q' appears twice, first in line 2"),
        ("qid,docid\nq,a\n", "j.csv: no column is the grade: name it grade or rating"),
    ],
)
def test_a_mistake_in_judgements_is_named_by_file_and_line(text, message):
    with pytest.raises(ReadError, match=f"^{message}"):
        rr.io.read_judgements(Named(text, "j.csv"))


QUOTED = ['the "deep web"', '"deep web', '5" disk', '""', 'a "b']


@pytest.mark.parametrize("header", [False, True])
def test_bare_quotes_in_a_tsv_are_read_as_they_are(header):
    """TREC, BEIR and MS MARCO write no quotes around cells."""
    rows = [f"{row}\t{text}\n" for row, text in enumerate(QUOTED)]
    queries = rr.read_queries(Named("".join(["qid\tquery\n" * header, *rows]), "queries.tsv"))
    assert queries.texts == QUOTED
    assert rr.read_documents(Named("".join(["id\ttitle\n", *rows]), "docs.tsv")).fields["title"] == QUOTED
    judged = "".join(["qid\tquery\tdocid\tgrade\n", *(f"{row.rstrip()}\td\t1\n" for row in rows)])
    assert rr.io.read_judgements(Named(judged, "judged.tsv")).qid.tolist() == ["0", "1", "2", "3", "4"]
    table = "".join(["qid\tquery\tx\n", *(f"{row.rstrip()}\t0.5\n" for row in rows)])
    assert rr.read_table(Named(table, "table.tsv")).texts["query"].tolist() == QUOTED


def test_files_of_beir_are_read_as_they_are():
    with pytest.warns(UserWarning, match="fields that hold objects left out: metadata"):
        docs = rr.read_documents(Named('{"_id": "d1", "text": "a b", "metadata": {"url": "x"}}', "corpus.jsonl"))
    assert (docs.ids.tolist(), [*docs.fields]) == (["d1"], ["text"])
    empty = rr.read_documents(Named('{"_id": "d1", "text": "a b", "metadata": {}}', "corpus.jsonl"))
    assert [*empty.fields] == ["text"]
    judged = rr.io.read_judgements(Named("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "qrels/test.tsv"))
    assert (judged.qid.tolist(), judged.docid.tolist(), judged.grade.tolist()) == (["q1"], ["d1"], [1])


def test_documents_of_a_tsv_without_a_header_are_ids_and_texts():
    """As MS MARCO has its passages."""
    docs = rr.read_documents(Named('0\tThe "first" one\n1\tThe second\n', "collection.tsv"))
    assert docs.ids.tolist() == ["0", "1"]
    assert docs.fields == {"text": ['The "first" one', "The second"]}
    with pytest.raises(
        ReadError, match=r"^collection.tsv:2: document ids must differ: '0' appears twice, first in line 1"
    ):
        rr.read_documents(Named("0\ta\n0\tb\n", "collection.tsv"))
