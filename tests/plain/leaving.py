"""Who is still there at a position after clicks further up, as one would write it down."""


def still_there_plainly(query, document, place, shown, clicks, share, looks):
    """Return, for each row, which share of people has not left before its position for clicks on other documents.

    Position by position: of those who look there, so many click, and a share of these leaves. Once for the whole query,
    and once for each document, from what its query has without it.
    """
    rows = range(len(query))

    def total(values, q, k, doc=None):
        return sum(values[i] for i in rows if query[i] == q and place[i] == k and doc in (None, document[i]))

    found = []
    for row in rows:
        everybody, own = 1.0, 1.0
        for k in range(place[row]):
            looked = total(shown, query[row], k) * looks[k] * everybody
            of_own = total(shown, query[row], k, document[row]) * looks[k] * own
            clicked, clicked_own = total(clicks, query[row], k), total(clicks, query[row], k, document[row])
            others = clicked - clicked_own
            own *= max(1 - share * others / max(looked - of_own, others), 1e-6) if others > 0 else 1
            everybody *= max(1 - share * clicked / max(looked, clicked), 1e-6) if clicked > 0 else 1
        found.append(min(own, 1.0))
    return found
