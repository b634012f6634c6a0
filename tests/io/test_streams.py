import gzip
import io
import lzma
import os
import random
import sys
import tracemalloc

import pytest
import zstandard

from rulerank.errors import DataError, ReadError
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import is_model, read_bytes, read_parts
from rulerank.rankers.global_rules import GlobalRules

TEXT = b"2 qid:1 1:0.5 # d1\n" * 50
PACKED = {
    ".gz": gzip.compress(TEXT),
    ".xz": lzma.compress(TEXT),
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress(TEXT),
}


@pytest.mark.parametrize("suffix", ["", ".txt", ".gz", ".xz", ".zst", ".GZ"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path = tmp_path / f"train{suffix}"
    write_bytes(path, TEXT)
    assert read_bytes(path) == (TEXT, str(path))
    assert read_bytes(str(path)) == (TEXT, str(path))
    assert (path.read_bytes() == TEXT) == (suffix.lower() not in PACKED)


def test_a_model_is_not_read_as_data(tmp_path):
    path = tmp_path / "model.rulerank"
    GlobalRules(discretizer=None).fit([[0], [1]], [0, 1], qid=[0, 0]).save(path)
    assert is_model(path.read_bytes())
    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(ReadError, match=r": this is a rulerank model, not data; use `rulerank rank` \(in Python"):
            read_bytes(source)
    assert read_bytes(io.BytesIO(b"RULERANK_score,qid\n"))[0] == b"RULERANK_score,qid\n"


@pytest.mark.parametrize("suffix", PACKED)
def test_parts_put_one_after_the_other_are_read_to_the_end(tmp_path, suffix):
    path = tmp_path / f"train{suffix}"
    path.write_bytes(PACKED[suffix] * 2)
    assert read_bytes(path)[0] == TEXT * 2


@pytest.mark.parametrize("suffix", PACKED)
def test_no_part_is_empty_also_where_the_first_packed_bytes_hold_nothing_whole(tmp_path, suffix):
    path = tmp_path / f"noise{suffix}"
    noise = random.Random(0).randbytes(5_000).hex().encode()
    write_bytes(path, noise)
    parts = [*read_parts(path)]
    assert b"".join(parts) == noise
    assert all(parts)


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_content_is_known_by_its_first_bytes(tmp_path, suffix):
    path = tmp_path / "train.txt"
    path.write_bytes(PACKED[suffix])
    assert read_bytes(path)[0] == TEXT
    assert read_bytes(io.BytesIO(PACKED[suffix])) == (TEXT, "<stream>")


@pytest.mark.parametrize(("suffix", "kind"), [(".gz", "gzip"), (".xz", "xz"), (".zst", "zstd")])
def test_a_compressed_file_cut_off_anywhere_is_an_error(tmp_path, suffix, kind):
    path = tmp_path / f"train.txt{suffix}"
    for length in range(len(PACKED[suffix])):
        path.write_bytes(PACKED[suffix][:length])
        with pytest.raises(ReadError, match=f"^{path}: (expected {kind} data because|the {kind} data is)"):
            read_bytes(path)
    path.write_bytes(PACKED[suffix][:-3])
    with pytest.raises(ReadError, match=f"the {kind} data is cut off before its end; copy the file again"):
        read_bytes(path)


@pytest.mark.parametrize(("suffix", "kind"), [(".gz", "gzip"), (".xz", "xz"), (".zst", "zstd")])
def test_damaged_compressed_data_is_an_error(tmp_path, suffix, kind):
    path = tmp_path / f"train.txt{suffix}"
    for damaged in (PACKED[suffix][:12] + b"\x55\xaa\x55\xaa" + PACKED[suffix][16:], PACKED[suffix] + b"more"):
        path.write_bytes(damaged)
        with pytest.raises(ReadError, match=f"{path}: the {kind} data is (damaged: .|cut off)"):
            read_bytes(path)


def read(reader, path):
    """What comes of a file: its content, or the error."""
    try:
        return reader(path)
    except ReadError as error:
        return str(error)


@pytest.mark.parametrize("suffix", ["", *PACKED])
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_a_file_in_parts_is_the_file_as_a_whole_with_the_same_errors(tmp_path, monkeypatch, suffix, step):
    path, packed = tmp_path / f"train.txt{suffix}", PACKED.get(suffix, TEXT)
    padding = b"\0" * 12 if suffix == ".xz" else b""
    contents = [packed[:length] for length in range(0, len(packed), 5)]
    contents += [packed, packed + padding + packed + padding, packed + b"more", packed[:12] + b"\x55\xaa" + packed[14:]]
    for content in contents:
        path.write_bytes(content)
        whole = read(lambda path: read_bytes(path)[0], path)
        with monkeypatch.context() as small:
            small.setattr("rulerank.io.streams.PART", step)
            small.setattr("rulerank.io.streams.ZST_STEP", step)
            assert read(lambda path: b"".join(read_parts(path)), path) == whole
    path.unlink()
    assert read(lambda path: [*read_parts(path)], path) == f"{path}: there is no such file"


def test_a_name_that_promises_compression_must_hold_it(tmp_path):
    path = tmp_path / "train.gz"
    path.write_bytes(TEXT)
    with pytest.raises(ReadError, match=r"expected gzip data because the name ends in \.gz, got something else"):
        read_bytes(path)
    path.write_bytes(b"")
    with pytest.raises(ReadError, match=r"expected gzip data because the name ends in \.gz, got an empty file"):
        read_bytes(path)


def test_what_cannot_be_opened_is_a_read_error(tmp_path):
    with pytest.raises(ReadError, match=r"absent\.txt: there is no such file$"):
        read_bytes(tmp_path / "absent.txt")
    with pytest.raises(ReadError, match=f"^{tmp_path}: expected a file, got a directory$"):
        read_bytes(tmp_path)
    with pytest.raises(ReadError, match=r"cannot be read: .*null"):
        read_bytes("a\0b")
    with pytest.raises(ReadError, match="expected a path or a file open for reading: "):
        read_bytes(7)
    with (tmp_path / "out").open("wb") as out, pytest.raises(ReadError, match="out: expected a path or a file open"):
        read_bytes(out)


def test_a_file_without_permission_is_a_read_error(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)  # root may read anything
    with pytest.raises(ReadError, match=r"secret\.txt: no permission to read this file"):
        read_bytes(tmp_path / "secret.txt")


def test_open_files_are_read_as_text_or_bytes(tmp_path):
    path = tmp_path / "é.txt"
    path.write_text("1 qid:é\n", encoding="utf-8")
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        assert read_bytes(binary) == read_bytes(text) == ("1 qid:é\n".encode(), str(path))
    with path.open(encoding="ascii") as text, pytest.raises(ReadError, match=r"é\.txt: expected ascii text, got ord"):
        read_bytes(text)


def test_a_stream_must_give_bytes_or_text():
    class Numbers:
        def read(self):
            return [1, 2]

    with pytest.raises(ReadError, match="<stream>: expected bytes or text, got list"):
        read_bytes(Numbers())


def test_a_dash_is_stdin_and_stdout(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKED[".gz"])))
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


BOMB = b"0" * (1 << 25)


@pytest.mark.parametrize("suffix", PACKED)
def test_a_small_file_does_not_unpack_without_bound(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"bomb{suffix}"
    write_bytes(path, BOMB)
    monkeypatch.setenv("RULERANK_UNPACK_LIMIT", str(len(BOMB) - 1))
    tracemalloc.start()
    with pytest.raises(ReadError, match=r"bomb\..*: unpacks to more than 33,554,431 bytes, the most that is read; if"):
        read_bytes(path)
    monkeypatch.setenv("RULERANK_UNPACK_LIMIT", "1000000")
    tracemalloc.reset_peak()
    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(ReadError, match=r"more than 1,000,000 bytes.*set RULERANK_UNPACK_LIMIT to a larger number"):
            read_bytes(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert suffix == ".zst" or peak < 16_000_000  # stopped on the way, not after; zstandard's memory is not traced
    for lifted in (str(len(BOMB)), "none", "NONE", ""):
        monkeypatch.setenv("RULERANK_UNPACK_LIMIT", lifted)
        assert read_bytes(path)[0] == BOMB


@pytest.mark.parametrize("text", ["much", "-1", "1e9", "4G"])
def test_a_limit_that_is_no_number_is_refused(tmp_path, monkeypatch, text):
    write_bytes(tmp_path / "t.gz", TEXT)
    monkeypatch.setenv("RULERANK_UNPACK_LIMIT", text)
    with pytest.raises(DataError, match="RULERANK_UNPACK_LIMIT must be a number of bytes, or none: got"):
        read_bytes(tmp_path / "t.gz")
