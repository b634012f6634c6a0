"""Loops over the bytes of a LETOR file. Nothing here checks its arguments; `letor.py` does.

content  uint8[n_bytes]                the file
lines    int64[n_lines, 4]             where a line starts, where its '#' is or else its end, where it ends
                                       without its line break, and its row, -1 when it is blank or only a comment
seen     int64[n_features]             the last row (plus one) in which a feature was seen
X        float32[n_rows, n_features]   zeros at first
grades   int16[n_rows]                 -1 for `?`
spans    int64[n_rows, 6]              start and stop of query id, doc id, rest of the comment
slow     bool[n_rows]                  rows with a value that Python must read
problem  int64[4]                      code, line, start and stop of the text at fault; the code is 0 at first
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulerank._util.loops import compiled
from rulerank.dataset import MAX_GRADE

Array = NDArray[Any]

MAX_INDEX = 100_000  # as many features as a dense matrix can sensibly have

START, BODY, END, ROW = range(4)  # columns of lines

# what can be wrong with a line
BAD_GRADE, BAD_QID, BAD_FEATURE, REPEATED, BAD_VALUE = range(1, 6)
# what a value's text turned out to be; BAD_VALUE besides
NUMBER, MISSING, SLOW = -1, -2, -3

TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON, EQUALS, QUESTION, LETTER_E = (
    ord(char) for char in "\t\n\r #+-.09:=?e"
)
QID, DOCID, NULL, NAN = (np.frombuffer(word, dtype=np.uint8) for word in (b"qid:", b"docid", b"null", b"nan"))
SAME_CASE, ANY_CASE = 0, 32  # the bit by which ASCII's cases differ

MAX_DIGITS = 18  # that many always fit int64
EXACT = 2**53  # integers up to here, and powers of ten up to 22, are exact in float64
POWERS = np.array([float(f"1e{power}") for power in range(61)])


@compiled
def measure_lines(content: Array, lines: Array, first: int, last: int) -> tuple[int, int]:
    """Find the parts of lines first..last, whose end is that of their line break; set the row to 0 where there is one.

    Return the largest feature index and its line.
    """
    largest, largest_line = 0, -1
    for line in range(first, last):
        start, end = lines[line, START], lines[line, END]
        if end > start and content[end - 1] == NEWLINE:
            end -= 1
        if end > start and content[end - 1] == RETURN:
            end -= 1
        at = start
        while at < end and content[at] != HASH:
            if content[at] == COLON:
                index = _index_before(content, start, at)
                if largest < index <= MAX_INDEX:  # parse_lines reports a larger one
                    largest, largest_line = index, line
            at += 1
        lines[line, BODY], lines[line, END] = at, end
        lines[line, ROW] = 0 if _skip_blanks(content, start, at) < at else -1
    return largest, largest_line


@compiled
def _index_before(content: Array, start: int, colon: int) -> int:
    """Return the number that fills the field up to a colon, 0 when there is none."""
    at, place = colon - 1, 1
    index: Any = 0
    while at >= start and ZERO <= content[at] <= NINE:
        index += place * (np.int64(content[at]) - ZERO)
        place = min(place * 10, 1_000_000_000)
        at -= 1
    return index if at >= start and (content[at] == SPACE or content[at] == TAB) else 0


@compiled
def parse_lines(
    content: Array,
    lines: Array,
    first: int,
    last: int,
    seen: Array,
    X: Array,
    grades: Array,
    spans: Array,
    slow: Array,
    problem: Array,
) -> None:
    """Fill the rows of lines first..last; stop at the first problem."""
    for line in range(first, last):
        row = lines[line, ROW]
        if row < 0:
            continue
        body, end = lines[line, BODY], lines[line, END]
        at = _skip_blanks(content, lines[line, START], body)
        stop = _field_end(content, at, body)
        grades[row] = _grade(content, at, stop)
        if grades[row] < -1:
            _report(problem, BAD_GRADE, line, at, stop)
            return
        at = _skip_blanks(content, stop, body)
        stop = _field_end(content, at, body)
        if stop - at <= QID.size or not _is_word(content, at, at + QID.size, QID, SAME_CASE):
            _report(problem, BAD_QID, line, at, stop)
            return
        spans[row, 0], spans[row, 1] = at + QID.size, stop
        at = _skip_blanks(content, stop, body)
        while at < body:
            colon, index = at, 0
            while colon < body and ZERO <= content[colon] <= NINE:
                index = _append_digit(index, content[colon])
                colon += 1
            if colon == body or content[colon] != COLON or index == 0 or index > MAX_INDEX:
                _report(problem, BAD_FEATURE, line, at, _field_end(content, at, body))
                return
            if seen[index - 1] == row + 1:
                _report(problem, REPEATED, line, at, _field_end(content, at, body))
                return
            seen[index - 1] = row + 1
            kind, value, stop = parse_number(content, colon + 1, body)
            if kind > 0:
                _report(problem, kind, line, at, stop)
                return
            X[row, index - 1] = value
            if kind == SLOW:
                slow[row] = True
            at = _skip_blanks(content, stop, body)
        _split_comment(content, body, end, spans[row])


@compiled
def parse_number(content: Array, start: int, end: int) -> tuple[int, float, int]:
    """Read the number that begins at start; return what it is, its value and where its field stops.

    The value, as float32, is what Python's float would give: exactly when digits and exponent are small, else when
    the last bits do not matter; when they do, the answer is SLOW.
    """
    at, exponent, n_digits = start, 0, 0
    mantissa: Any = np.int64(0)
    any_digit, fraction, cut = False, False, False
    if at < end and (content[at] == MINUS or content[at] == PLUS):
        at += 1
    while at < end:
        char = content[at]
        if ZERO <= char <= NINE:
            any_digit = True
            if n_digits < MAX_DIGITS:
                mantissa = mantissa * 10 + np.int64(char) - ZERO
                n_digits += mantissa > 0
                exponent -= fraction
            else:
                cut = True
                exponent += not fraction
        elif char == POINT and not fraction:
            fraction = True
        else:
            break
        at += 1
    if any_digit and at < end and content[at] | ANY_CASE == LETTER_E:
        at, power = _power(content, at + 1, end)
        exponent += power
    if not any_digit or (at < end and content[at] != SPACE and content[at] != TAB):
        stop = _field_end(content, start, end)
        return _word_kind(content, start, stop), np.nan, stop
    value = np.float64(mantissa)
    if mantissa > 0:
        if exponent < -60 or exponent > 20:  # 18 digits and 20 zeros stay below float32's largest
            return SLOW, 0.0, at
        value = value * POWERS[exponent] if exponent >= 0 else value / POWERS[-exponent]
        exact = mantissa <= EXACT and exponent >= -22 and not cut
        # else off by a few units in float64's last place: harmless unless float32 rounds the neighbours differently
        if not exact and np.float32(value * (1 - 2.0**-50)) != np.float32(value * (1 + 2.0**-50)):
            return SLOW, 0.0, at
    return NUMBER, -value if content[start] == MINUS else value, at


@compiled
def _power(content: Array, at: int, end: int) -> tuple[int, int]:
    """Read the exponent after an e; without digits, stay at the e, where no field ends."""
    first = at
    if at < end and (content[at] == MINUS or content[at] == PLUS):
        at += 1
    digits, power = at, 0
    while at < end and ZERO <= content[at] <= NINE:
        power = _append_digit(power, content[at])
        at += 1
    if at == digits:
        return first - 1, 0
    return at, -power if content[first] == MINUS else power


@compiled
def _word_kind(content: Array, start: int, stop: int) -> int:
    if _is_word(content, start, stop, NULL, ANY_CASE):
        return MISSING
    if start < stop and (content[start] == MINUS or content[start] == PLUS):  # C prints -nan
        start += 1
    return MISSING if _is_word(content, start, stop, NAN, ANY_CASE) else BAD_VALUE


@compiled
def _grade(content: Array, start: int, stop: int) -> int:
    """Return a grade, -1 for `?`, -2 for what is neither; a whole number may be written 2.0 or +2."""
    if stop - start == 1 and content[start] == QUESTION:
        return -1
    at, grade = start, 0
    if at < stop and content[at] == PLUS:
        at += 1
    digits = at
    while at < stop and ZERO <= content[at] <= NINE:
        grade = _append_digit(grade, content[at])
        at += 1
    if at == digits:
        return -2
    if at < stop and content[at] == POINT:
        at += 1
        while at < stop and content[at] == ZERO:
            at += 1
    return grade if at == stop and grade <= MAX_GRADE else -2


@compiled
def _split_comment(content: Array, hash_: int, end: int, span: Array) -> None:
    """Find the doc id in '#docid = ID rest' or '# ID rest'."""
    at = _skip_blanks(content, min(hash_ + 1, end), end)
    if _is_word(content, at, min(at + DOCID.size, end), DOCID, SAME_CASE):
        equals = _skip_blanks(content, at + DOCID.size, end)
        if equals < end and content[equals] == EQUALS:
            at = _skip_blanks(content, equals + 1, end)
    span[2], span[3] = at, _field_end(content, at, end)


@compiled
def _append_digit(number: Any, char: Any) -> int:
    return min(number * 10 + np.int64(char) - ZERO, 1_000_000_000)  # larger than any limit here, small enough to go on


@compiled
def _skip_blanks(content: Array, at: int, end: int) -> int:
    while at < end and (content[at] == SPACE or content[at] == TAB):
        at += 1
    return at


@compiled
def _field_end(content: Array, at: int, end: int) -> int:
    while at < end and content[at] != SPACE and content[at] != TAB:
        at += 1
    return at


@compiled
def _is_word(content: Array, start: int, stop: int, word: Array, case: int) -> bool:
    if stop - start != word.size:
        return False
    for i in range(word.size):
        if content[start + i] | case != word[i]:
            return False
    return True


@compiled
def _report(problem: Array, code: int, line: int, start: int, stop: int) -> None:
    problem[0], problem[1], problem[2], problem[3] = code, line, start, stop
