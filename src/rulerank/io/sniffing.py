"""Tell the format of a file by its first bytes."""

from __future__ import annotations

from rulerank.io.quepid import is_header


def sniff(head: bytes) -> str | None:
    """Return the format that the first bytes look like, if any.

    >>> sniff(b"2 qid:1 1:0.5"), sniff(b"301 Q0 FBIS3-10082 1 9.5 bm25"), sniff(b"hello")
    ('letor', 'run', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    text = head.decode("utf-8-sig", errors="replace")
    line = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    words = line.split()
    if len(words) > 1 and words[1].startswith("qid:"):
        return "letor"
    if is_header(line.split(",")):
        return "quepid"
    if len(words) == 6 and _is_number(words[4]):
        return "run"
    if len(words) == 4 and _is_number(words[3]):
        return "qrels"
    return "csv" if "," in line else "tsv" if "\t" in line else None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
