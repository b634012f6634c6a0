"""TREC runs and qrels: what is read, what is written, how they meet, and every message."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io import trec
from rulerank.io.trec import (
    Qrels,
    Run,
    join,
    qrels_from_data,
    read_qrels,
    read_run,
    read_scores,
    run_from_scores,
    write_qrels,
    write_run,
)

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(
    lambda word: word.encode().split() == [word.encode()] and "\ufeff" not in word
)
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=8, unique=True)
floats = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def runs(draw):
    qid, docid = zip(*draw(pairs), strict=True)
    n_rows = len(qid)
    scores = draw(st.lists(floats, min_size=n_rows, max_size=n_rows))
    return Run(qid, docid, scores, draw(st.lists(words, min_size=n_rows, max_size=n_rows)))


@st.composite
def judgements(draw):
    qid, docid = zip(*draw(pairs), strict=True)
    grades = draw(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), min_size=len(qid), max_size=len(qid)))
    return Qrels(qid, docid, grades)


def columns(value):
    return {name: getattr(value, name).tolist() for name in vars(value)}


def named(text, name="f"):
    file = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    file.name = name
    return file


@given(runs())
def test_writing_and_reading_a_run_is_the_identity(run):
    out = io.BytesIO()
    write_run(run, out)
    assert columns(read_run(io.BytesIO(out.getvalue()))) == columns(run)


@given(judgements())
def test_writing_and_reading_qrels_is_the_identity(qrels):
    out = io.BytesIO()
    write_qrels(qrels, out)
    assert columns(read_qrels(io.BytesIO(out.getvalue()))) == columns(qrels)


spaces = st.text(" \t\r\v\f", max_size=2).map(lambda text: text or " ")
cells = st.one_of(
    words, floats.map(str), st.sampled_from(["1", "-2", "+3", "1e5", "1_0", "nan", "inf", "0x1", "1.5", '"a"'])
)
layouts = st.sampled_from([trec.RUN, trec.QRELS])


@given(
    st.lists(
        st.tuples(words, words, words, words, floats, words), min_size=1, max_size=5, unique_by=lambda row: row[::2][:2]
    ),
    st.sampled_from([" ", "\t", "  ", " \t"]),
    st.sampled_from(["\n", "\r\n", " \n\n"]),
)
def test_columns_are_those_between_white_space(rows, separator, end):
    content = "".join(separator.join(map(str, row)) + end for row in rows)
    run = read_run(named(content))
    places = {"qid": 0, "docid": 2, "score": 4, "tag": 5}
    assert columns(run) == {name: [row[place] for row in rows] for name, place in places.items()}


@given(st.binary(max_size=60), layouts)
def test_junk_is_read_or_refused_with_a_read_error(content, layout):
    try:
        found = (read_run if layout is trec.RUN else read_qrels)(io.BytesIO(content))
    except ReadError:
        return
    assert len(found.qid) == len(found.docid) > 0


RUN_MISTAKES = {
    "": "f: the file is empty: expected lines 'qid Q0 docid rank score tag'",
    " \n\n": "f: the file is empty: expected lines 'qid Q0 docid rank score tag'",
    "1 Q0 a 1 0.5 me\n1 Q0 b 2 0.4\n": "f:2: expected 'qid Q0 docid rank score tag', got 5 columns: '1 Q0 b 2 0.4'",
    "\n1 Q0 b 2 0.4 me too\n": "f:2: expected 'qid Q0 docid rank score tag', got 7 columns: '1 Q0 b 2 0.4 me too'",
    "1 Q0 a 1 high me\n": "f:1: expected a finite number as the score, got 'high'",
    "1 Q0 a 1 0.5 me\n1 Q0 b 1 nan me\n": "f:2: expected a finite number as the score, got 'nan'",
    "1 Q0 a 1 -inf me\n": "f:1: expected a finite number as the score, got '-inf'",
    "1 Q0 a 1 1_0 me\n": "f:1: expected a finite number as the score, got '1_0'",
    "1 Q0 a 1 0.5 t\n2 Q0 b 2 0.4 t\n1 Q0 a 3 0 t\n": "f:3: document 'a' of query '1' appears twice, first in line 1",
    "1 Q0 a 1 0.5 me\n\n\n1 Q0 a 2 0.4 me\n": "f:4: document 'a' of query '1' appears twice, first in line 1",
    b"1 Q0 a 1 0.5 me\n1 Q0 \xe9 1 0.5 me\n": "f:2: expected UTF-8 text, got the byte 0xe9",
}
QRELS_MISTAKES = {
    "1 0 a 1\n1 0 b\n": "f:2: expected 'qid 0 docid grade', got 3 columns: '1 0 b'",
    "1 0 a 1.5\n": "f:1: expected an integer as the grade, got '1.5'",
    "1 0 a 1_0\n": "f:1: expected an integer as the grade, got '1_0'",
    "1 0 a 99999999999\n": "f:1: expected an integer as the grade, got '99999999999'",
    "1 0 a 1\n1 0 a 1\n": "f:2: document 'a' of query '1' appears twice, first in line 1",
}


MISTAKES = [(read_run, *one) for one in RUN_MISTAKES.items()] + [(read_qrels, *one) for one in QRELS_MISTAKES.items()]


@pytest.mark.parametrize(("read", "text", "message"), MISTAKES)
def test_a_mistake_is_named_by_file_and_line(read, text, message):
    with pytest.raises(ReadError) as caught:
        read(named(text))
    assert str(caught.value) == message


@pytest.mark.parametrize("word", ["a b", "", "a\n", "\t", "a\x0b"])
def test_what_would_fall_apart_is_not_written(word):
    with pytest.raises(DataError, match=r"^in a TREC file docid must be a word without white space: got '.*'; csv and"):
        write_qrels(Qrels(["q"], [word], [1]), io.BytesIO())
    with pytest.raises(DataError, match=r"^in a TREC file tag must be a word without white space"):
        write_run(Run(["q"], ["d"], [0.5], [word]), io.BytesIO())


def test_values_that_do_not_fit_together_are_refused():
    with pytest.raises(DataError, match=r"^docid must have one entry per row: expected 1, got 2$"):
        Qrels(["q"], ["a", "b"], [1])
    with pytest.raises(DataError, match=r"^scores must be finite: got nan at row 1$"):
        Run(["q", "q"], ["a", "b"], [0.5, np.nan], ["me", "me"])
    with pytest.raises(DataError, match=r"^scores must be numbers: got 'high' \.\.\.$"):
        Run(["q"], ["a"], ["high"], ["me"])
    with pytest.raises(DataError, match=r"^grades of qrels must be integers: got float64$"):
        Qrels(["q"], ["a"], [0.5])
    with pytest.raises(DataError, match=r"once per query: document 'a' of query '1' is at rows 0 and 2$"):
        Qrels([1, 2, 1], ["a", "a", "a"], [1, 1, 1])


@given(runs())
def test_ranks_are_written_best_first_and_ties_in_file_order(run):
    out = io.BytesIO()
    write_run(run, out)
    ranks = [int(line.split()[3]) for line in out.getvalue().split(b"\n")[:-1]]
    for q in set(run.qid):
        rows = [row for row in range(len(run)) if run.qid[row] == q]
        best_first = sorted(rows, key=lambda row: -run.score[row])
        assert [ranks[row] for row in best_first] == list(range(1, len(rows) + 1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12))
def test_a_run_from_scores_is_sorted_by_query_score_and_row(rows):
    qid, scores = [q for q, _ in rows], [score for _, score in rows]
    run = run_from_scores((qid, list(range(len(rows)))), scores, tag="t")
    order = sorted(range(len(rows)), key=lambda row: (qid.index(qid[row]), -scores[row], row))
    assert run.docid.tolist() == [str(row) for row in order]
    assert run.score.tolist() == [scores[row] for row in order]
    assert set(run.tag) <= {"t"}


def test_a_run_needs_doc_ids():
    with pytest.raises(DataError, match=r"^expected an id for every document: the data has none"):
        run_from_scores(Dataset([[1.0]], [1], ["q"]), [0.5])
    with pytest.raises(DataError, match=r"^expected an id for every document: row 1 has none"):
        qrels_from_data(Dataset([[1.0], [2.0]], [1, 1], ["q", "q"], ["d", ""]))


def plain_join(run, qrels, complete):
    """Return {(qid, docid): (grade, score)} by the words of the documentation."""
    score = dict(zip(zip(run.qid, run.docid, strict=True), run.score.tolist(), strict=True))
    grade = dict(zip(zip(qrels.qid, qrels.docid, strict=True), qrels.grade.tolist(), strict=True))
    queries = set(qrels.qid) if complete else set(qrels.qid) & set(run.qid)
    return {pair: (max(0, grade.get(pair, 0)), score.get(pair)) for pair in {**score, **grade} if pair[0] in queries}


few = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), min_size=1, max_size=9, unique=True)


@given(few, few, st.booleans())
def test_join_agrees_with_the_plain_way(retrieved, judged, complete):
    run = Run(*zip(*retrieved, strict=True), np.arange(len(retrieved)), ["t"] * len(retrieved))
    qrels = Qrels(*zip(*judged, strict=True), np.arange(len(judged)) - 2)
    if not set(run.qid) & set(qrels.qid):
        with pytest.raises(DataError, match=r"^no query is in both the run and the qrels: the run has '.'"):
            join(run, qrels, complete)
        return
    both = join(run, qrels, complete)
    found = {
        (q, d): (int(y), float(score) if is_retrieved else None)
        for y, score, q, d, is_retrieved in zip(*both, strict=True)
    }
    assert len(found) == both.y.size
    assert found == plain_join(run, qrels, complete)
    assert np.array_equal(np.isnan(both.scores), ~both.retrieved)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_score_comes_back_to_the_last_bit(scores):
    assert read_scores(io.StringIO("".join(f"{score!r}\n" for score in scores))).tolist() == scores


@pytest.mark.parametrize("line", ["", "two", "1 2", "1,5", "1_000", "nan", "inf", "-Infinity", "1e999", "\xff", "0x10"])
def test_a_line_that_is_no_score_is_named(line):
    with pytest.raises(ReadError, match=r"^<stream>:2: expected one finite number, the score of a document: got '"):
        read_scores(io.StringIO(f"1\n{line}\n3\n"))


def test_a_trec_run_is_told_from_scores():
    with pytest.raises(
        ReadError, match=r"^<stream>: this looks like a TREC run, not a score file; .*--qrels QRELS RUN"
    ):
        read_scores(io.BytesIO(b"q1 Q0 d1 1 0.5 me\n"))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \r\n"])
def test_an_empty_file_is_named(content):
    with pytest.raises(ReadError, match=r"^<stream>: the file is empty: expected one score per line"):
        read_scores(io.BytesIO(content))
