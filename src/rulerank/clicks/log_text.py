"""Text of a log in blocks of whole records, some bytes at a time: a file need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

LONGEST = 1 << 27  # bytes of one record


class LongRecordError(Exception):
    """A record has no end within reach."""


def lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the lines of a text that comes in parts, with their ends.

    >>> [*lines([b"a\nb", b"c\n", b"d"])]
    [b'a\n', b'bc\n', b'd']
    """
    held: list[bytes] = []
    for part in parts:
        *whole, rest = part.split(b"\n")
        for line in whole:
            yield b"".join([*held, line, b"\n"])
            held = []
        held += [rest] if rest else []
    if held:
        yield b"".join(held)


def blocks(parts: Iterable[bytes], size: int, *, quoted: bool) -> Iterator[bytes]:
    r"""Yield blocks of some `size` bytes that end where a record does; with `quoted`, not within quotes.

    >>> [*blocks([b'a,b\n1,"x\n', b'y"\n2,z'], 1, quoted=True)]
    [b'a,b\n', b'1,"x\ny"\n', b'2,z']
    """
    held: list[bytes] = []
    n_held, wanted = 0, size
    for part in parts:
        held.append(part)
        n_held += len(part)
        if n_held < wanted:
            continue
        text = b"".join(held)
        end = _last_end(text, quoted)
        if end:
            yield text[:end]
        elif n_held > LONGEST:
            raise LongRecordError
        held = [text[end:]]
        n_held -= end
        wanted = max(size, 2 * n_held)  # a long record is not looked through again and again
    if n_held:
        yield b"".join(held)


def with_header(found: Iterable[bytes], *, quoted: bool) -> Iterator[bytes]:
    r"""Yield the blocks of a csv or tsv file, each with the line of names before it.

    >>> [*with_header([b"\n", b"a,b\n1,2\n", b"3,4\n"], quoted=True)]
    [b'\na,b\n1,2\n', b'\na,b\n3,4\n']
    """
    header = before = b""
    for block in found:
        if header:
            yield header + block
            continue
        before += block
        header = before[: _first_end(before, quoted)]
        if header:
            yield before


def _first_end(text: bytes, quoted: bool) -> int:
    """Return where the first record ends that is not blank; 0: there is none."""
    end = len(text) - len(text.lstrip(b"\r\n"))
    if end == len(text):
        return 0
    start = end
    while (end := text.find(b"\n", end) + 1) > 0:
        if not quoted or text.count(b'"', start, end) % 2 == 0:
            return end
    return len(text)


def _last_end(text: bytes, quoted: bool) -> int:
    """Return where the last whole record ends; 0: there is none."""
    odd, at = quoted and text.count(b'"') % 2 == 1, len(text)
    while (end := text.rfind(b"\n", 0, at)) >= 0:
        odd ^= quoted and text.count(b'"', end, at) % 2 == 1
        if not odd:
            return end + 1
        at = end
    return 0
