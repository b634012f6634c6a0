"""No command writes over what it reads, by whatever name, nor over a label store."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.io.files import inputs_watched, read_bytes, write_bytes

# each reads the file that {} stands for, and would write it
OVER_INPUTS = {
    "convert {} {} --to quepid": "pool.csv",
    "convert {} {} --from csv --to csv": "pool.csv",
    "convert pool.csv {1} --to csv --qrels {0}": "qrels.txt",
    "sample {} -n 5 -o {}": "pool.csv",
    "sample pool.csv --labels {} -o {} -n 2": "graded.csv",
    "rank {} model.rulerank -o {}": "test.txt",
    "rank test.txt {} -o {}": "model.rulerank",
    "explain {} model.rulerank -o {}": "test.txt",
    "fuse {} two.run -o {}": "one.run",
    "fuse one.run {} -o {}": "two.run",
    "export {} --to opensearch-ltr -o {}": "linear.rulerank",
    "train {} -o {}": "train.txt",
    "train test.txt {} -o {}": "vali.txt",
    "train pool.csv --labels {} -o {}": "graded.csv",
    "label-curve {} --baseline bm25_body --splits 2 --sizes 5 -o {}": "pool.csv",
    "clicks {} pool.csv -o {}": "log.csv",
    "clicks log.csv {} -o {}": "pool.csv",
    "interleave {} two.run -o {}": "one.run",
}
STORE_WRITERS = [
    "convert pool.csv judged.db --to csv",
    "sample pool.csv -n 5 -o judged.db",
    "rank test.txt model.rulerank -o judged.db",
    "fuse one.run two.run -o judged.db",
    "export linear.rulerank --to opensearch-ltr -o judged.db",
    "interleave one.run two.run -o judged.db",
    "train train.txt -o judged.db",
]


def linked(path, make=Path.symlink_to):
    link = Path(f"link{Path(path).suffix}")
    make(link, path)
    return str(link)


OTHER_NAMES = [
    lambda path: path,
    lambda path: os.path.join("..", Path.cwd().name, path),
    lambda path: linked(path, Path.hardlink_to),
    lambda path: os.path.join(linked(Path.cwd()), path),
]


def contents(folder):
    paths = [path for path in folder.iterdir() if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("line", "other_name"),
    [*((line, linked) for line in OVER_INPUTS), *((next(iter(OVER_INPUTS)), name) for name in OTHER_NAMES)],
)
def test_an_output_that_is_an_input_is_refused(run, folder, line, other_name):
    name = OVER_INPUTS[line]
    line = line.format(name, other_name(name))
    before = contents(folder)
    done = run(*line.split())
    assert (done.code, done.out) == (2, "")
    assert "which would be lost; write to another file\n" in done.err or "is there already" in done.err
    assert contents(folder) == before


@pytest.mark.parametrize("line", STORE_WRITERS)
def test_a_label_store_is_never_written_over(run, folder, line):
    before = contents(folder)
    done = run(*line.split())
    assert done.code == 2
    assert "judged.db is a label store, which is never overwritten; write to another file\n" in done.err
    assert contents(folder) == before


def test_what_lies_beside_a_label_store_belongs_to_it(tmp_path):
    store = rr.judging.LabelStore(tmp_path / "l.db")
    store.add("q", "d", 1, "ann")
    assert (tmp_path / "l.db-wal").exists()
    with pytest.raises(rr.errors.DataError, match=r"l\.db-wal is a label store, which is never overwritten"):
        write_bytes(tmp_path / "l.db-wal", b"x")
    store.close()
    (tmp_path / "notes-wal").write_text("mine")
    write_bytes(tmp_path / "notes-wal", b"x")  # not beside a store


def test_a_script_may_write_what_it_has_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("qid,grade,a\n1,0,2.5\n")
    rr.io.write_table(rr.read_table(path), path)
    with pytest.raises(rr.errors.DataError, match=r"t\.csv is an input, which would be lost; write to another file"):
        rr.io.convert(path, str(path), target_format="quepid")


def test_a_file_that_is_the_same_by_another_case_is_the_same(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("qid,grade,a\n1,0,2.5\n")
    stat = os.stat
    # as a file system does that knows no case
    monkeypatch.setattr("os.stat", lambda file, **how: stat(file.lower() if isinstance(file, str) else file, **how))
    with inputs_watched():
        read_bytes(path)
        with pytest.raises(rr.errors.DataError, match=r"T\.CSV is the same file as .*t\.csv, which would be lost"):
            write_bytes(str(path.with_name("T.CSV")), b"x")


OPENED_BY_THE_SHELL = [
    ("rank - model.rulerank -o test.txt < test.txt", "test.txt is the same file as stdin"),
    ("rank test.txt model.rulerank >> test.txt", "stdout goes to test.txt"),
    ("fuse one.run two.run 1<>one.run", "stdout goes to one.run"),
]


@pytest.mark.parametrize(("line", "message"), OPENED_BY_THE_SHELL)
def test_what_the_shell_opens_counts_too(folder, line, message):
    before = contents(folder)
    words = ["bash", "-c", f"{sys.executable} -m rulerank {line}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: {message}, which would be lost; write to another file\n")
    assert contents(folder) == before
