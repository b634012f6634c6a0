import gzip
import io
import os
import sys

import pytest

from rulerank.errors import DataError, ReadError
from rulerank.io.files import NamedBytes, is_model, read_bytes, read_parts, write_bytes
from rulerank.rankers.global_rules import GlobalRules

TEXT = b"2 qid:1 1:0.5 # d1\n" * 50
PACKED = gzip.compress(TEXT)


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".GZ"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path = tmp_path / f"train{suffix}"
    write_bytes(path, TEXT)
    assert read_bytes(path) == read_bytes(str(path)) == (TEXT, str(path))
    assert (path.read_bytes() == TEXT) == (suffix.lower() != ".gz")


def test_a_model_is_not_read_as_data(tmp_path):
    path = tmp_path / "model.rulerank"
    GlobalRules(discretizer=None).fit([[0], [1]], [0, 1], qid=[0, 0]).save(path)
    assert is_model(path.read_bytes())
    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(ReadError, match=r": this is a rulerank model, not data; use `rulerank rank` \(in Python"):
            read_bytes(source)


@pytest.mark.parametrize("step", [7, 1 << 20])
def test_gzip_is_known_by_its_first_bytes_and_an_error_where_it_is_cut_off_or_damaged(tmp_path, monkeypatch, step):
    monkeypatch.setattr("rulerank.io.files.PART", step)
    path = tmp_path / "train.txt"
    expected = {PACKED: TEXT, PACKED * 2: TEXT * 2, PACKED[:-3]: "the gzip data is cut off before its end; copy the"}
    expected |= {
        PACKED + b"more": "the gzip data is damaged: ",
        PACKED[:12] + b"\x55" * 9 + PACKED[21:]: "the gzip data",
    }
    for content, came in expected.items():
        path.write_bytes(content)
        for read in (lambda: read_bytes(path)[0], lambda: b"".join(read_parts(path))):
            if isinstance(came, bytes):
                assert read() == came
            else:
                with pytest.raises(ReadError, match=f"^{path}: {came}"):
                    read()
    assert read_bytes(io.BytesIO(PACKED)) == (TEXT, "<stream>")
    assert read_bytes(NamedBytes(TEXT, "read-before.gz")) == (TEXT, "read-before.gz")
    for length in range(2, len(PACKED)):
        with pytest.raises(ReadError, match=r"^<stream>: the gzip data is"):
            read_bytes(io.BytesIO(PACKED[:length]))


def test_a_small_file_does_not_unpack_without_bound(monkeypatch):
    monkeypatch.setattr("rulerank.io.files.UNPACK_LIMIT", len(TEXT) - 1)
    with pytest.raises(ReadError, match="unpacks to more than 949 bytes, the limit"):
        read_bytes(io.BytesIO(PACKED))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.txt", r"absent\.txt: there is no such file$"),
        ("", ": expected a file, got a directory$"),
        ("a\0b", "cannot be read: .*null"),
    ],
)
def test_what_cannot_be_read_is_a_read_error(tmp_path, name, message):
    path = os.path.join(tmp_path, name)
    for read in (read_bytes, lambda path: [*read_parts(path)]):
        with pytest.raises(ReadError, match=message):
            read(path)


def test_a_file_without_permission_is_a_read_error(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)  # root may read anything
    with pytest.raises(ReadError, match=r"secret\.txt: cannot be read: Permission denied"):
        read_bytes(tmp_path / "secret.txt")


def test_open_files_are_read_as_text_or_bytes(tmp_path):
    path = tmp_path / "é.txt"
    path.write_text("1 qid:é\n", encoding="utf-8")
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        assert read_bytes(binary) == read_bytes(text) == ("1 qid:é\n".encode(), str(path))
    with path.open(encoding="ascii") as text, pytest.raises(ReadError, match=r"é\.txt: expected a path or a file open"):
        read_bytes(text)


class Numbers:
    def read(self):
        return [1, 2]


@pytest.mark.parametrize(
    ("source", "message"),
    [(Numbers(), "<stream>: expected bytes or text, got list"), (7, "expected a path or a file open for reading: ")],
)
def test_a_stream_must_give_bytes_or_text(source, message):
    with pytest.raises(ReadError, match=message):
        read_bytes(source)


def test_a_dash_is_stdin_and_stdout(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKED)))
    assert read_bytes("-") == (TEXT, "<stdin>")
    write_bytes("-", TEXT)
    assert capsysbinary.readouterr().out == TEXT


def test_open_files_are_written_as_text_or_bytes():
    for out, expected in ((io.BytesIO(), "é".encode()), (io.StringIO(), "é")):
        write_bytes(out, "é".encode())
        assert out.getvalue() == expected
    with pytest.raises(DataError, match="expected a path or a file open for writing: "):
        write_bytes(7, b"")


def test_a_failed_write_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "train.txt"
    path.write_bytes(b"old")

    def fail(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DataError, match=r"cannot write .*train\.txt: No space left on device"):
        write_bytes(path, TEXT)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.txt"]


def test_what_cannot_be_written_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match=r"cannot write .*absent/train\.txt: No such file or directory"):
        write_bytes(tmp_path / "absent" / "train.txt", TEXT)
    with pytest.raises(DataError, match=r"cannot write .*: Is a directory"):
        write_bytes(tmp_path, TEXT)


def test_writing_keeps_the_mode_of_a_file_and_goes_through_links(tmp_path):
    path, link = tmp_path / "train.txt", tmp_path / "link.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_bytes(link, TEXT)
    assert link.is_symlink()
    assert path.read_bytes() == TEXT
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_in_place():
    write_bytes(os.devnull, TEXT)
    assert not os.path.isfile(os.devnull)
