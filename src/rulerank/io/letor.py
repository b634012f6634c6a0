"""Read and write LETOR text, which SVMrank, LETOR 2 to 4, MSLR and svmlight share: 'grade qid:ID 1:0.5 ... # doc'."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rulerank._util.loops import in_blocks
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io import letor_kernels as kernels
from rulerank.io.columns import check_repeats
from rulerank.io.files import Origin, Source, read_bytes, write_bytes

LINES_PER_THREAD = 1000  # fewer are parsed sooner than a thread starts
ROWS_PER_BLOCK = 10_000  # rows turned into text at a time
QUERY_SIZES = (".query", ".group")  # files beside the data, one number of rows a query: LightGBM's and XGBoost's
NOT_UTF8 = 100  # what can be wrong with a line, beside the kernels' codes
SHOWN = 40  # characters of a file's text in a message

# what the columns of a data set may hold to be written and read back; up to \x20 are tab, blank and control characters
WRITABLE = {
    "qid": (r"[^\x00-\x20#\ud800-\udfff]+", "at least one character, and no blank, '#' or control character"),
    "docid": (r"[^\x00-\x20\ud800-\udfff]*", "no blank or control character"),
}

Problem = tuple[int, int, int, int]  # line, code, start and stop of the text at fault


def read_letor(source: Source, *, n_features: int | None = None, repeats: bool = False) -> Dataset:
    """Read a LETOR file: a path, an open file or `-`, plain or compressed as .gz.

    - The grade is a whole number, or `?` for a document that is not judged (y = -1).
    - Query and doc ids stay strings. The doc id is the X of '#docid = X rest' or '# X rest'; a row without one has "",
      and a file without any has None.
    - A feature that a line leaves out is 0; NULL and nan are missing values (NaN). Features may come in any order.
    - The number of features is the largest index, or `n_features` if given, which must not be less: a test file
      may lack the last feature of its training file.
    - Where lines have no qid, the sizes of queries may be in LightGBM's file beside it: train.txt.query.
    - A document that appears twice in one query, by its id, is an error, but with `repeats`, as for labels of several
      raters.
    - Blank lines, and lines that begin with `#`, are ignored. Anything else is a ReadError with file and line.

    >>> import io
    >>> data = read_letor(io.StringIO("2 qid:7 1:0.5 3:NULL #docid = d1 inc = 1\\n? qid:7 2:1 # d2"))
    >>> data
    Dataset(2 rows, 1 query, 3 features, grades not labelled: 1, 2: 1)
    >>> data.X.tolist(), data.docid.tolist()
    ([[0.5, 0.0, nan], [0.0, 1.0, 0.0]], ['d1', 'd2'])
    """
    if n_features is not None and n_features < 0:
        raise DataError(f"n_features must not be negative: got {n_features}")
    content, name = read_bytes(source)
    return _Reader(_with_qids(content.removeprefix(b"\xef\xbb\xbf"), name), name).read(n_features, repeats)


def write_letor(data: Dataset, target: Source) -> None:
    """Write a LETOR file to a path (.gz is compressed), an open file or `-`.

    Every value is written, including zeros, with the fewest digits that read back to the same float32; a missing one is
    NULL.
    The format has no place for feature names. Ids are written as text; those that it cannot hold are a DataError.

    >>> import io
    >>> out = io.StringIO()
    >>> write_letor(Dataset([[0.1, float("nan")]], y=[-1], qid=["q1"], docid=["d7"]), out)
    >>> out.getvalue()
    '? qid:q1 1:0.1 2:NULL #docid = d7\\n'
    """
    if not len(data):
        raise DataError("expected at least one row to write as LETOR text: got none")
    write_bytes(target, "".join(_lines(data)).encode())


def widen(data: Dataset, n_features: int) -> Dataset:
    """Add features that a LETOR file never mentions, which is to say zeros.

    >>> widen(Dataset([[0.5]], y=[1], qid=["q"]), 3).X.tolist()
    [[0.5, 0.0, 0.0]]
    """
    missing = n_features - data.X.shape[1]
    return replace(data, X=np.pad(data.X, ((0, 0), (0, missing))), feature_names=()) if missing > 0 else data


class _Reader:
    """One file being read: its bytes and, for each line, what letor_kernels keeps of it."""

    def __init__(self, content: bytes, name: str) -> None:
        self.content = content
        self.name = name
        self.bytes = np.frombuffer(content, dtype=np.uint8)
        breaks = np.flatnonzero(self.bytes == kernels.NEWLINE) + 1
        self.lines = np.empty((breaks.size + 1, 4), dtype=np.int64)
        self.lines[:, kernels.START] = np.concatenate([[0], breaks])
        self.lines[:, kernels.END] = np.concatenate([breaks, [len(content)]])

    def read(self, n_features: int | None, repeats: bool) -> Dataset:
        largest, largest_line = self.measure()
        is_row = self.lines[:, kernels.ROW] >= 0
        n_rows = int(is_row.sum())
        if not n_rows:
            came = "only blank lines and comments" if self.content else "an empty file"
            raise ReadError(self.name, None, f"expected lines like 'grade qid:ID 1:0.5 2:3 ...', got {came}")
        if n_features is not None and largest > n_features:
            message = f"expected at most {n_features} features, got feature {largest}"
            raise ReadError(self.name, largest_line + 1, message)
        n_features = n_features or largest
        needed, memory = 4 * n_rows * n_features, _memory()
        if needed > memory:
            raise ReadError(
                self.name,
                largest_line + 1 if largest_line >= 0 else None,
                f"{n_rows:,} rows of {n_features:,} features make a matrix of {needed / 1e9:,.1f} GB, and this machine "
                f"has {memory / 1e9:,.1f} GB of memory; renumber the features so that they have no gaps",
            )
        self.lines[is_row, kernels.ROW] = np.arange(n_rows)

        X = np.zeros((n_rows, n_features), dtype=np.float32)
        grades = np.empty(n_rows, dtype=np.int16)
        spans = np.empty((n_rows, 4), dtype=np.int64)
        slow = np.zeros(n_rows, dtype=np.bool_)
        problems = self.parse(X, grades, spans, slow)
        problems += self.read_slowly(self.lines[is_row][slow], X)
        problems += self.check_utf8()
        if problems:
            line, code, start, stop = min(problems)
            raise ReadError(self.name, line + 1, _describe(code, self.content[start:stop]))
        qid, docid = self.share(spans[:, :2]), self.texts(spans[:, 2:])
        if docid is not None and not repeats:
            check_repeats(qid, docid, Origin(self.name, np.flatnonzero(is_row) + 1))
        return Dataset(X, grades, qid, docid)

    def measure(self) -> tuple[int, int]:
        """Find the parts of each line; return the largest feature index and the line that has it first."""
        found: list[tuple[int, int]] = []

        def work(first: int, last: int) -> None:
            largest, line = kernels.measure_lines(self.bytes, self.lines, first, last)
            found.append((largest, -line))

        in_blocks(work, len(self.lines), min_block=LINES_PER_THREAD)
        largest, line = max(found)
        return largest, -line

    def parse(self, X: Array, grades: Array, spans: Array, slow: Array) -> list[Problem]:
        problems: list[Problem] = []

        def work(first: int, last: int) -> None:
            seen = np.zeros(X.shape[1], dtype=np.int64)
            problem = np.zeros(4, dtype=np.int64)
            kernels.parse_lines(self.bytes, self.lines, first, last, seen, X, grades, spans, slow, problem)
            code, line, start, stop = problem.tolist()
            if code:
                problems.append((line, code, start, stop))
                slow[self.lines[line, kernels.ROW]] = False  # the rest of the line is not checked

        in_blocks(work, len(self.lines), min_block=LINES_PER_THREAD)
        return problems

    def read_slowly(self, lines: Array, X: Array) -> list[Problem]:
        """Read the lines that need Python's float, whose fields the kernel has checked."""
        for at, body, _, row in lines.tolist():
            fields = self.content[at:body].replace(b"\t", b" ").split(b" ")
            for field in [field for field in fields if field][2:]:
                index, text = field.split(b":")
                if text.lower() != b"null":
                    with np.errstate(over="ignore"):
                        X[row, int(index.lstrip(b"0")) - 1] = value = np.float32(float(text))
                    if np.isinf(value):
                        start = self.content.index(field, at)
                        return [(self.line_at(at), kernels.BAD_VALUE, start, start + len(field))]
        return []

    def line_at(self, place: int) -> int:
        return int(np.searchsorted(self.lines[:, kernels.START], place, side="right")) - 1

    def check_utf8(self) -> list[Problem]:
        try:
            self.content.decode()
        except UnicodeDecodeError as error:
            return [(self.line_at(error.start), NOT_UTF8, error.start, error.start + 1)]
        return []

    def share(self, spans: Array) -> Array:
        """Return the texts, equal ones as one string."""
        found = [self.content[start:stop] for start, stop in spans.tolist()]
        ids = {text: text.decode() for text in set(found)}
        return np.array([ids[text] for text in found], dtype=object)

    def texts(self, spans: Array) -> Array | None:
        if (spans[:, 0] == spans[:, 1]).all():
            return None
        return np.array([self.content[start:stop].decode() for start, stop in spans.tolist()], dtype=object)


def _lines(data: Dataset) -> Iterator[str]:
    qid, docid = (_column(data, name) for name in ("qid", "docid"))
    template = "".join(f" {index + 1}:%s" for index in range(data.X.shape[1]))
    for start in range(0, len(data), ROWS_PER_BLOCK):
        values = _number_texts(data.X[start : start + ROWS_PER_BLOCK])
        for row, texts in enumerate(values, start):
            grade = "?" if data.y[row] == UNLABELLED else data.y[row]
            about = f" #docid = {docid[row]}" if docid[row] else ""
            yield f"{grade} qid:{qid[row]}{template % texts}{about}\n"


def _number_texts(X: Array) -> Iterator[tuple[str, ...]]:
    """Return for each row the shortest texts that read back as the same float32."""
    bits, places = np.unique(np.ascontiguousarray(X).view(np.int32), return_inverse=True)  # -0.0 is not 0.0
    written = bits.view(np.float32).astype(str).tolist()
    texts = np.array(["NULL" if text == "nan" else text.removesuffix(".0") for text in written], dtype=object)
    return map(tuple, texts[places.reshape(X.shape)])


def _column(data: Dataset, name: str) -> list[str]:
    values = getattr(data, name)
    if values is None:
        return [""] * len(data)
    texts = ["" if value is None else str(value) for value in values.tolist()]
    pattern, rule = WRITABLE[name]
    for row, text in enumerate(texts):
        if not re.fullmatch(pattern, text):
            raise DataError(
                f"{name} {text[:SHOWN]!r} of row {row} cannot be written as LETOR text: it must have {rule}"
            )
    return texts


def _memory() -> int:
    """Return the machine's memory in bytes, or a common size where it cannot be asked for."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 16 * 2**30


def _with_qids(content: bytes, name: str) -> bytes:
    """Return svmlight text with the query ids that a file of sizes beside it gives; other text as it is.

    The rows of the first query have qid:1, and so on.
    """
    sizes_name = next((name + ending for ending in QUERY_SIZES if os.path.isfile(name + ending)), None)
    if sizes_name is None:
        return content
    lines = content.split(b"\n")
    rows = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(b"#")]
    words = lines[rows[0]].split(None, 2) if rows else []
    if len(words) < 2 or words[1].startswith(b"qid:"):
        return content
    sizes = []
    for number, text in enumerate(read_bytes(sizes_name)[0].split(b"\n"), start=1):
        if text.strip() and not text.strip().isdigit():
            came = text.strip()[:SHOWN].decode(errors="replace")
            raise ReadError(sizes_name, number, f"expected the number of rows of a query, got {came!r}")
        sizes += [int(text)] if text.strip() else []
    if sum(sizes) != len(rows):
        raise ReadError(
            sizes_name, None, f"the sizes of its queries add up to {sum(sizes):,} rows, but {name} has {len(rows):,}"
        )
    for row, qid in zip(rows, np.repeat(np.arange(len(sizes)) + 1, sizes).tolist(), strict=True):
        grade, *features = lines[row].split(None, 1)
        lines[row] = b" ".join([grade, b"qid:%d" % qid, *features])
    return b"\n".join(lines)


def _describe(code: int, text: bytes) -> str:
    """Return what was expected instead of the text at fault.

    >>> _describe(kernels.BAD_GRADE, b"1.5")
    "expected a grade, a whole number from 0 to 31, or ? where there is none, got '1.5'"
    """
    index, _, value = text.partition(b":")
    feature = index.lstrip(b"0").decode("utf-8", "replace")
    expected, came = {
        kernels.BAD_GRADE: (f"a grade, a whole number from 0 to {MAX_GRADE}, or ? where there is none", text),
        kernels.BAD_QID: ("'qid:ID' after the grade, or a file of query sizes beside this one (.query)", text),
        kernels.BAD_FEATURE: (f"a feature as 'index:value', with an index from 1 to {kernels.MAX_INDEX:,}", text),
        kernels.REPEATED: (f"each feature once, not feature {feature} again", text),
        kernels.BAD_VALUE: (f"a number that fits float32, or NULL, as value of feature {feature}", value),
        NOT_UTF8: ("UTF-8 text", f"0x{text.hex()}".encode()),
    }[code]
    shown = came[: 4 * SHOWN].decode("utf-8", "replace")
    shown = shown[:SHOWN] + "..." if len(shown) > SHOWN else shown
    return f"expected {expected}, got {shown!r}"
