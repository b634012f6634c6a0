"""From each format to each: what arrives, what is said to be lost, and every message."""

import io
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.dataset import Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.formats import FORMATS, Conversion, convert, detect, read_any, read_together, write_any
from rulerank.io.trec import Run, write_run

DATA = Dataset([[0.1, np.nan], [2, 0], [3, 1]], [2, -1, 0], ["7", "7", "8"], ["a", "b", "a"])
DATA_FORMATS = ["letor", "csv", "tsv", "parquet"]
HEADS = {
    "letor": b"2 qid:1 1:0.5 # d",
    "csv": b"qid,grade,x\n1,2,0.5",
    "tsv": b"qid\tgrade\tdocid\tx\n1\t2\td\t0.5",
    "parquet": b"PAR1\x15",
    "run": b"1 Q0 d 1 0.5 me",
    "qrels": b"1 0 d 2",
    "quepid": b"query,docid,rating\r\na,b,1",
}


def through(source, source_format, target_format, **columns):
    out = io.BytesIO()
    done = convert(io.BytesIO(source), out, source_format, target_format, **columns)
    return out.getvalue(), done


def written(data, format):
    out = io.BytesIO()
    write_any(data, out, format)
    return out.getvalue()


def grades(data):
    return dict(zip(zip(data.qid, data.docid, strict=True), data.y.tolist(), strict=True))


@pytest.mark.parametrize("target", DATA_FORMATS)
@pytest.mark.parametrize("source", DATA_FORMATS)
def test_features_grades_and_ids_go_between_letor_and_tables(source, target):
    content, done = through(written(DATA, source), source, target)
    data = read_any(io.BytesIO(content), target)
    assert np.array_equal(data.X, DATA.X, equal_nan=True)
    assert grades(data) == grades(DATA)
    assert done == Conversion(3)


@pytest.mark.parametrize("target", ["letor", "csv", "tsv", "parquet", "qrels", "quepid"])
@pytest.mark.parametrize("source", ["qrels", "quepid"])
def test_judgements_go_to_every_format_that_holds_grades(source, target):
    judged = DATA.labelled()
    content, done = through(written(judged, source), source, target)
    assert grades(read_any(io.BytesIO(content), target)) == grades(judged)
    assert done == Conversion(2)


WRITTEN = [name for name in FORMATS if name != "logs"]  # an engine's, which are only read
PAIRS = [(source, target) for source in WRITTEN for target in WRITTEN]
REFUSED = {
    **{(source, "run"): "a run needs " for source in FORMATS if source != "run"},
    **{
        ("run", target): f"a run cannot become {target}: a run holds scores, and"
        for target in ("letor", "qrels", "quepid")
    },
}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair_of_formats_converts_or_says_why_not(source, target):
    content = HEADS["run"] if source == "run" else written(DATA, source)
    if (source, target) in REFUSED:
        with pytest.raises((DataError, ReadError), match=REFUSED[source, target]):
            through(content, source, target)
    else:
        assert through(content, source, target)[1].rows > 0


def test_qrels_say_what_they_do_not_carry():
    content, done = through(b"2 qid:1 1:0.5 # d rest\n? qid:1 1:0.5 # e\n", "letor", "qrels")
    assert content == b"1 0 d 2\n"
    assert done == Conversion(1, 1, "features")
    assert str(done) == "1 row, letor to qrels; 1 row without a grade left out; not stored: features"


def test_quepid_keeps_documents_without_a_grade():
    content, done = through(b"? qid:1 1:0.5 # d\n", "letor", "quepid")
    assert content == b"query,docid,rating\n1,d,\n"
    assert done == Conversion(1, 0, "features")


def test_grades_below_0_stay_in_qrels_and_are_said_elsewhere():
    content = b"1 0 a -2\n1 0 b 1\n"
    assert through(content, "qrels", "qrels") == (content, Conversion(2))
    table, done = through(content, "qrels", "csv")
    assert table == b"qid,docid,grade\n1,a,0\n1,b,1\n"
    assert done == Conversion(2, 0, "grades below 0 (1), written as 0")
    with pytest.warns(UserWarning, match=r"^<stream>: grades below 0 \(judged, not relevant\) are read as 0: 1 of 2$"):
        assert read_any(io.BytesIO(content)).y.tolist() == [0, 1]


scores = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("table", ["csv", "tsv", "parquet"])
@given(st.lists(scores, min_size=1, max_size=5))
def test_a_run_goes_to_a_table_and_back(table, scores):
    out = io.BytesIO()
    n_rows = len(scores)
    write_run(Run(["007"] * n_rows, [f"d{row}" for row in range(n_rows)], scores, ["me"] * n_rows), out)
    content, done = through(out.getvalue(), "run", table)
    assert done == Conversion(n_rows)
    assert through(content, table, "run") == (out.getvalue(), Conversion(n_rows))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"qid,docid,x\n1,a,1\n", "a run needs a column 'score'; the columns are qid, docid, x"),
        (b"qid,docid,score\n1,a,1\n1,b,\n", "3: expected a finite number in column 'score', got None"),
        (b"qid,docid,score\n1,a,inf\n", "2: expected a finite number in column 'score', got inf"),
        (b"qid,docid,score\n1,a,true\n", "column 'score' must hold numbers: it holds Boolean"),
        (
            b"qid,docid,score\n1,a,1\n1,a,2\n",
            "a document can occur once per query: document 'a' of query '1' is at rows",
        ),
        (b"2 qid:1 1:0.5", "a run needs scores, and letor files have none; rank the documents first"),
    ],
)
def test_what_is_no_run_is_said(content, message):
    with pytest.raises(ReadError) as caught:
        through(content, None, "run")
    assert message in str(caught.value)


def test_data_sets_are_not_runs():
    with pytest.raises(DataError, match=r"^a run needs a score for every document; rank the documents first$"):
        write_any(DATA, io.BytesIO(), "run")
    with pytest.raises(ReadError, match=r"^<stream>: a run holds scores, and neither grades nor features; evaluate it"):
        read_any(io.BytesIO(HEADS["run"]))


@pytest.mark.parametrize("target", [target for target in WRITTEN if target != "quepid"])
def test_a_format_is_known_by_its_first_line_or_its_name(target):
    assert detect("-", HEADS[target]) == target
    for suffix in FORMATS[target].suffixes:
        assert detect(f"a{suffix}.gz", b"") == target
    assert detect("a.txt", HEADS[target]) == target  # people name everything .txt


def test_a_format_that_nobody_can_tell_is_said():
    with pytest.raises(
        ReadError, match=r"^a\.log: cannot tell the format; name it: letor, csv, tsv, parquet, run, qrels"
    ):
        detect("a.log", b"hello")
    with pytest.raises(DataError, match=r"^cannot determine the output format from the name 'a\.log'; name one: letor"):
        write_any(DATA, "a.log")
    with pytest.raises(DataError, match=r"^unknown format 'xlsx'; choose from letor, csv"):
        read_any(io.BytesIO(b""), "xlsx")


def test_qrels_with_grades_beyond_the_scale_are_refused_by_name():
    with pytest.raises(ReadError, match=r"^<stream>: grades must be at most 31: got 32 at row 0$"):
        read_any(io.BytesIO(b"1 0 a 32\n"))


def test_columns_are_named_for_tables_only():
    assert read_any(io.BytesIO(HEADS["quepid"]), qid="query", grade="rating").docid.tolist() == ["b"]
    with pytest.raises(ReadError, match=r"^<stream>: only tables have named columns \(qid\): this is letor$"):
        read_any(io.BytesIO(HEADS["letor"]), qid="query")


def test_frames_are_sources_too():
    frame = pl.DataFrame({"q": [1], "docid": ["d"], "grade": [2]})
    assert len(read_any(frame, qid="q")) == 1
    out = io.BytesIO()
    assert convert(frame, out, target_format="qrels", qid="q") == Conversion(1)
    assert out.getvalue() == b"1 0 d 2\n"


def test_a_frame_with_scores_becomes_a_run():
    frame = pl.DataFrame({"q": [1, 1], "docid": ["a", "b"], "score": [0.5, 2.0], "x": [3, 4]})
    out = io.BytesIO()
    done = convert(frame, out, target_format="run", qid="q")
    assert out.getvalue() == b"1 Q0 a 2 0.5 rulerank\n1 Q0 b 1 2.0 rulerank\n"
    assert str(done) == "2 rows, a data frame to run; not stored: x"
    with pytest.raises(DataError, match=r"^a run needs a column 'score'; the columns are q, docid$"):
        convert(frame.drop("score", "x"), out, target_format="run", qid="q")


@pytest.mark.parametrize("role", ["grade", "features"])
def test_a_run_has_no_columns_for_grades_and_features(role):
    with pytest.raises(DataError) as caught:
        through(b"qid,docid,score\n1,a,1\n", "csv", "run", **{role: "x"})
    assert str(caught.value) == (
        f"a run holds scores, and neither grades nor features: leave out {role}= (on the command line --{role})"
    )
    with pytest.raises(ReadError, match=r"^<stream>: only tables have named columns \(qid\): this is run$"):
        through(HEADS["run"], "run", "run", qid="q")


@given(
    st.binary(max_size=80)
    | st.sampled_from(list(HEADS.values())).flatmap(
        lambda head: st.tuples(st.integers(0, len(head)), st.binary(max_size=3)).map(
            lambda cut: head[: cut[0]] + cut[1]
        )
    )
)
def test_junk_is_read_or_refused_with_a_read_error(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = read_any(io.BytesIO(content))
        except ReadError:
            return
    assert data.X.shape == (len(data.qid), len(data.feature_names))


def test_texts_and_categories_that_a_format_cannot_carry_are_said(tmp_path):
    source = tmp_path / "films.csv"
    source.write_text("qid,docid,grade,title,f1:category(drama|war)\n1,a,0,Dr No,war\n1,b,1,Jaws,drama\n")
    assert convert(source, tmp_path / "films.txt").note == "texts, names of categories"
    assert convert(source, tmp_path / "films.qrels").note == "features, texts"
    assert convert(source, tmp_path / "again.csv").note == ""


def test_features_that_only_a_later_file_has_are_left_out_and_named(tmp_path):
    for name, text in (("a.csv", "qid,grade,x\n1,2,0.5\n"), ("b.csv", "qid,grade,x,y\n2,1,3,4\n")):
        (tmp_path / name).write_text(text)
    with pytest.warns(UserWarning, match=r"b\.csv: features that .*a\.csv lacks are left out: y$"):
        data = read_together([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], {})
    assert (data.feature_names, data.X.tolist()) == (("x",), [[0.5], [3]])
