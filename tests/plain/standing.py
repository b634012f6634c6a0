"""Where a value stands among those of its query, by counting."""

import math


def standing_plainly(values, row):
    if len(values) < 2:
        return ""
    known = [value for value in values if not math.isnan(value)]
    value = values[row]
    if math.isnan(value):
        return f"as in {len(values) - len(known)} of {len(values)} documents"
    n = len(known)
    if all(other == value for other in known):
        if n == 1:
            return "the only one with a value"
        return f"the same in all {n} documents" + (" that have a value" if n < len(values) else "")
    tied = sum(other == value for other in known) - 1
    others = "" if not tied else f", with {tied} other{'s' if tied > 1 else ''}"
    if value == max(known):
        return f"highest of {n}{others}"
    if value == min(known):
        return f"lowest of {n}{others}"
    at_least = sum(other >= value for other in known) / n
    at_most = sum(other <= value for other in known) / n
    words = [(at_least, 0.1, "top tenth"), (at_most, 0.1, "lowest tenth"), (at_least, 0.25, "top quarter")]
    words += [(at_most, 0.25, "lowest quarter"), (at_least, 0.5, "top half"), (at_most, 0.5, "lower half")]
    for share, most, word in words:
        if share <= most + 1e-12:
            return f"{word} of {n}{others}"
    return f"middle of {n}{others}"
