"""Say what is wrong with a line of LETOR text, in words and without garbling a terminal."""

from __future__ import annotations

import re

from rulerank.dataset import MAX_GRADE
from rulerank.io import letor_kernels as kernels
from rulerank.io.other_tools import fraction_hint

NOT_UTF8 = 100  # beside the kernels' codes
SHOWN = 40  # characters of a file's text in a message


def describe(code: int, text: bytes) -> str:
    """Return what was expected instead of the text at fault.

    >>> describe(kernels.BAD_GRADE, b"1.5")
    "expected a grade, a whole number from 0 to 31 or ?, got '1.5'; to make fractional grades whole: awk ... > NEW"
    """
    index, colon, value = text.partition(b":")
    feature = index.lstrip(b"0").decode("utf-8", "replace")
    if code == kernels.BAD_GRADE:
        hint = fraction_hint(text.decode("utf-8", "replace"), "awk '{$1 = int(2 * $1 + 0.5)} 1' FILE > NEW")
        hint = "; a document without a grade has ?" if text.startswith(b"-") else hint
        return f"expected a grade, a whole number from 0 to {MAX_GRADE} or ?, got {_show(text)}{hint}"
    if code == kernels.BAD_QID:
        return f"expected 'qid:ID' after the grade, got {_show(text) if text else 'the end of the line'}"
    if code == kernels.BAD_FEATURE and not colon:
        return f"expected a feature as 'index:value', got {_show(text)}"
    if code == kernels.BAD_FEATURE:
        hint = "; to count from 1: dump_svmlight_file(..., zero_based=False) in scikit-learn" if index == b"0" else ""
        return f"expected a feature index from 1 to {kernels.MAX_INDEX:,}, got {_show(index)} in {_show(text)}{hint}"
    if code == kernels.REPEATED:
        return f"expected each feature once, got feature {feature} again in {_show(text)}"
    if code == kernels.BAD_VALUE:
        return f"expected a number or NULL as value of feature {feature}, got {_show(value)}"
    if code == kernels.INFINITE:
        return f"expected a finite float32 as value of feature {feature}, got {_show(value)}; a missing one is NULL"
    if code == kernels.CONTROL:
        return f"expected text, got the control character {_show(text)}"
    if code == kernels.NO_DOCID:
        return f"expected a doc id after 'docid =', got nothing in {_show(text)}"
    return f"expected UTF-8 text, got the byte 0x{text.hex()}"


def guess(content: bytes, line: bytes) -> str:
    """Say what a file whose first line is not LETOR looks like.

    >>> guess(b"", b"301 Q0 FT911-3 1 9.5 bm25")
    '; the file looks like a TREC run'
    """
    fields = line.split()
    looks = ""
    if content.startswith((b"PAR1", b"ARROW1")):
        looks = "a Parquet or Arrow file"
    elif content.startswith(b"PK\3\4"):
        looks = "a zip archive or a spreadsheet"
    elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
        looks = "UTF-16 text; save it as UTF-8"
    elif b"\0" in content[:4096]:
        looks = "binary data"
    elif line.lstrip().startswith(b"<"):
        looks = "an HTML or XML page"
    elif line.lstrip().startswith((b"{", b"[")):
        looks = "JSON"
    elif len(fields) == 6 and fields[1] == b"Q0":
        looks = "a TREC run"
    elif len(fields) == 4 and re.fullmatch(rb"-?[0-9]+", fields[3]):
        looks = "TREC qrels"
    elif b"," in line or (b"\t" in line and b":" not in line):
        looks = "a csv table"
    elif fields and b":" in fields[-1] and b"qid:" not in line:
        looks = "svmlight text without query ids; FILE.query beside it may hold the number of rows of each query"
    return f"; the file looks like {looks}" if looks else ""


def _show(text: bytes) -> str:
    shown = text[: 4 * SHOWN].decode("utf-8", "replace")
    return repr(shown[:SHOWN] + "..." if len(shown) > SHOWN else shown)
