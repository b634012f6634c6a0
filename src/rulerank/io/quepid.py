"""Quepid's judgements as csv, `query,docid,rating`; the lines of its LTR export are LETOR text (`read_letor`)."""

from __future__ import annotations

import csv
import io

import numpy as np

from rulerank.dataset import MAX_GRADE, UNLABELLED, Dataset
from rulerank.errors import ReadError
from rulerank.io.delimited import check_utf8, guarded, unguarded
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import Source, read_bytes
from rulerank.io.trec import require_docids

HEADER = ["query", "docid", "rating"]


def read_quepid(source: Source) -> Dataset:
    """Read Quepid's csv: the query's text is its id, there are no features, an empty rating is not labelled.

    >>> data = read_quepid(io.BytesIO(b'query,docid,rating\\n"milk, fresh",d1,3\\n"milk, fresh",d2,\\n'))
    >>> data.qid.tolist(), data.docid.tolist(), data.y.tolist()
    (['milk, fresh', 'milk, fresh'], ['d1', 'd2'], [3, -1])
    """
    content, name = read_bytes(source)
    check_utf8(content, name)
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    line_of: dict[tuple[str, str], int] = {}
    grades: list[int] = []
    try:
        header = next(reader, None)
        if header is None:
            raise ReadError(name, None, f"the file is empty: expected the header '{','.join(HEADER)}'")
        if not is_header(header):
            raise ReadError(name, 1, f"expected the header '{','.join(HEADER)}', got {','.join(header)!r}")
        line = reader.line_num + 1
        for cells in reader:
            line, begins = reader.line_num + 1, line  # a quoted query may take several lines
            if not cells:
                continue
            if len(cells) != len(HEADER):
                raise ReadError(name, begins, f"expected 3 columns, '{','.join(HEADER)}', got {len(cells)}")
            query, docid, rating = unguarded(cells[0]), unguarded(cells[1]), cells[2]
            if not query or not docid:
                raise ReadError(name, begins, f"expected a query and a docid, got {query!r} and {docid!r}")
            if (query, docid) in line_of:
                first = line_of[query, docid]
                raise ReadError(name, begins, f"{docid!r} of {query!r} is there twice, first in line {first}")
            line_of[query, docid] = begins
            grades.append(_grade(rating, name, begins))
    except csv.Error as error:
        raise ReadError(name, reader.line_num, f"expected csv, got {error}") from None
    qid, docids = np.empty((2, len(grades)), dtype=object)
    qid[:] = [query for query, _ in line_of]
    docids[:] = [docid for _, docid in line_of]
    return Dataset(np.empty((len(grades), 0)), np.array(grades, dtype=np.int16), qid, docids)


def is_header(cells: list[str]) -> bool:
    """Whether a csv's first line makes it Quepid's."""
    return [cell.strip('"\r ').lower() for cell in cells] == HEADER


def write_quepid(data: Dataset, target: Source) -> None:
    """Write the grades as Quepid's csv; a document without a grade has an empty rating.

    >>> out = io.BytesIO()
    >>> write_quepid(Dataset([[0.5]], y=[3], qid=['6" nails'], docid=["d1"]), out)
    >>> out.getvalue()
    b'query,docid,rating\\r\\n"6"" nails",d1,3\\r\\n'
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)  # its line end is CRLF: with a bare \n the module would not quote a \r in a query
    writer.writerow(HEADER)
    ratings = ["" if grade == UNLABELLED else grade for grade in data.y.tolist()]
    ids = ([guarded(str(one)) for one in column] for column in (data.qid, require_docids(data)))
    writer.writerows(zip(*ids, ratings, strict=True))
    write_bytes(target, out.getvalue().encode())


def _grade(rating: str, name: str, line: int) -> int:
    """Return 3 for '3' and for '3.0', which is what a spreadsheet or pandas makes of it."""
    if not rating.strip():
        return UNLABELLED
    try:
        grade = float(rating)
    except ValueError:
        grade = -1.0
    if "_" in rating or not (0 <= grade <= MAX_GRADE and grade.is_integer()):
        raise ReadError(
            name, line, f"expected a whole number from 0 to {MAX_GRADE} as the rating, or nothing, got {rating!r}"
        )
    return int(grade)
