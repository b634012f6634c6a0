"""Click logs added up row by row: slow, obviously right."""

from collections import Counter


def added_up(rows):
    """Return sorted (query, doc, position, impressions, clicks) of rows (query, doc, position, clicked)."""
    shown, clicked = Counter(), Counter()
    for query, doc, position, click in rows:
        shown[query, doc, position] += 1
        clicked[query, doc, position] += click
    return [(*key, shown[key], clicked[key]) for key in sorted(shown)]
