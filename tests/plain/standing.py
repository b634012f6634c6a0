"""Where a value stands among those of its query, by counting."""

import math


def standing_plainly(values, row):
    if len(values) < 2:
        return ""
    known = [value for value in values if not math.isnan(value)]
    value = values[row]
    if math.isnan(value):
        if not known:
            return f"as in all {len(values)} documents"
        return f"as in {len(values) - len(known)} of {len(values)} documents"
    n = len(known)
    if all(other == value for other in known):
        if n == 1:
            return "the only one with a value"
        if n < len(values):
            return f"the same in the {n} documents that have a value"
        return f"the same in all {n} documents"
    tied = sum(other == value for other in known) - 1
    others = "" if not tied else f", with {tied} other{'s' if tied > 1 else ''}"
    if value == max(known):
        return f"highest of {n}{others}"
    if value == min(known):
        return f"lowest of {n}{others}"
    above, below = sum(other > value for other in known), sum(other < value for other in known)
    if tied + 1 > n / 2:
        return f"the same in {tied + 1} of {n} documents"
    if below >= above:
        return f"higher than {math.floor(100 * below / n)} % of {n} documents"
    return f"lower than {math.floor(100 * above / n)} % of {n} documents"
