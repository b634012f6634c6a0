"""How the ranking of a query is laid out: a table of all that is shown, then a card for each document."""

from __future__ import annotations

from rulerank.core.words import counted, joined
from rulerank.explain.ranking import Passing, RankedDocument, RankingExplanation
from rulerank.explain.sentences import START, gap_parts, most_of
from rulerank.explain.standing import placed
from rulerank.render.document import (
    Bar,
    Block,
    Cell,
    Content,
    Page,
    Section,
    Sentences,
    Table,
    in_digits,
    sum_digits,
    summed,
    units,
)

REASONS = 3  # of a document, in the table
LINES = 6  # of a card
UP, DOWN, SAME = "▲", "▼", ""


def ranking_page(r: RankingExplanation) -> Page:
    """Lay the ranking of a query out."""
    asked = f"“{r.query_text}”" if r.query_text else f"query {r.query}"
    blocks: list[Block] = [_overview(r)]
    if r.dropped:
        blocks.append(_dropped(r))
    blocks += [_card(doc, r) for doc in r.documents]
    blocks.append(Sentences("How to read this", _how(r)))
    return Page(f"The ranking for {asked}", tuple(_lead(r)), tuple(blocks), footer=f"Model: {r.method}.")


def _lead(r: RankingExplanation) -> list[str]:
    first = r.documents[0]
    best = [share for share in first.features if share.adds > 0 and share.varies][:REASONS]
    why = f": {joined([share.said for share in best])}" if best else ""
    top = f"On top, tied with {counted(first.n_tied, 'other')}," if first.n_tied else "On top"
    lines = [f"{counted(r.n_docs, 'document')}, ranked by the model. {top} is {first.name}{why}."]
    if r.today is not None:
        moved = f"{r.n_risen:,} rose and {r.n_fallen:,} fell" if r.n_risen or r.n_fallen else "none moved"
        lines.append(f"Against today's ranking ({r.today}), {moved}.")
    return lines


def _overview(r: RankingExplanation) -> Table:
    above = [doc.score - r.mean_score for doc in r.documents]
    largest = max(map(abs, above))
    rows: list[tuple[Content, ...]] = []
    for doc, value in zip(r.documents, above, strict=True):
        today = () if r.today is None else (_move(doc),)
        number = Bar(value, largest, text=in_digits(_above_mean(doc, r), r.digits, signed=True))
        rows.append((_rank(doc), doc.name, _reasons(doc), *today, _score(doc, r), number))
    today_column = () if r.today is None else ("today",)
    header = ("rank", "document", "mainly because of", *today_column, "score", "against the mean")
    left = r.n_docs - len(r.documents)
    note = f"{counted(left, 'more document')} not shown." if left else ""
    return Table(f"The first {len(r.documents):,}", header, tuple(rows), 3, note)


def _dropped(r: RankingExplanation) -> Table:
    rows = tuple(
        (_rank(doc), doc.name, _why(doc.passing) if doc.passing else "", _move(doc), _score(doc, r))
        for doc in r.dropped
    )
    title = f"Among the first {len(r.documents):,} today, and no more"
    return Table(title, ("rank", "document", "why", "today", "score"), rows, 3)


def _card(doc: RankedDocument, r: RankingExplanation) -> Section:
    known = [(share.feature, placed(share.value, share.standing), share.adds) for share in doc.features[:LINES]]
    left = [share.adds for share in doc.features[LINES:]]
    known += [(counted(len(left), "other feature"), "", sum(left))] if left else []
    known += [("where it starts", "", doc.rest)] if abs(doc.rest) > 1e-9 else []
    numbers = summed((adds for *_, adds in known), _above_mean(doc, r), r.digits)
    rows = tuple((name, value, number) for (name, value, _), number in zip(known, numbers, strict=True))
    mean = f"{r.mean_score:z.{r.digits}f}"
    note = f"With {mean}, the mean score of this query's documents, these add up to {_score(doc, r)}."
    parts: list[Table | Sentences] = []
    texts = tuple(f"{name}: {text}" for name, text in doc.about.texts.items() if text != doc.about.title)
    if texts:
        parts.append(Sentences("What people read", texts))
    parts.append(Table("Why it stands here", ("feature", "value", "adds"), rows, 2, note))
    if doc.passing is not None:
        parts.append(Sentences("Why it moved", (_why(doc.passing), *_against(doc.passing))))
    tied = f", tied with {counted(doc.n_tied, 'other')}" if doc.n_tied else ""
    today = ""
    if r.today is not None:
        way = f"up {doc.moved:,}" if doc.moved > 0 else f"down {-doc.moved:,}" if doc.moved else "where it stands now"
        today = f" Today at rank {doc.today:,}: {way}."
    named = "" if doc.name == doc.document else f"{doc.document}; "
    return Section(f"{doc.rank}. {doc.name}", tuple(parts), about=f"{named}score {_score(doc, r)}{tied}.{today}")


def _score(doc: RankedDocument, r: RankingExplanation) -> str:
    return f"{doc.score:z.{r.digits}f}"


def _above_mean(doc: RankedDocument, r: RankingExplanation) -> int:
    """Return the printed score less the printed mean, in units of the last digit."""
    return units(doc.score, r.digits) - units(r.mean_score, r.digits)


def _why(why: Passing) -> str:
    """Say by which features one document is ahead of the other now.

    The other is its neighbour now among those that were on its other side today.
    """
    other = why.other_title or why.other
    for_it, _ = most_of(why.gaps, why.base_difference, REASONS)
    reasons = joined(for_it or [START])
    places = f"{why.other_today} today, {why.other_rank} now"
    if why.passed:
        return f"It passed {other} ({places}) mostly because of {reasons}."
    return f"{other} ({places}) passed it mostly because of {reasons}."


def _against(why: Passing) -> list[str]:
    _, against = most_of(why.gaps, why.base_difference, REASONS)
    behind = f"{why.other_title or why.other} is" if why.passed else "It is"
    better = [f"{behind} better in {joined(against)}."] if against else []
    parts = gap_parts(why.gaps, why.base_difference, LINES, lambda gap: gap.feature)
    digits = sum_digits((adds for adds, _ in parts), why.difference)
    numbers = summed((adds for adds, _ in parts), units(why.difference, digits), digits)
    told = [f"{number} from {name}" for number, (_, name) in zip(numbers, parts, strict=True)]
    made = f", made up of {joined(told)}" if told else ""
    return [*better, f"The difference of the two scores is {why.difference:z.{digits}f}{made}."]


def _rank(doc: RankedDocument) -> Cell:
    return Cell(f"{doc.rank}{'=' if doc.n_tied else ''}", doc.rank, strong=doc.rank <= 3)


def _move(doc: RankedDocument) -> Cell:
    if doc.today is None:
        return Cell("")
    mark = UP if doc.moved > 0 else DOWN if doc.moved < 0 else SAME
    text = f"{doc.today} → {doc.rank}" if doc.moved else str(doc.today)
    return Cell(text, float(doc.moved), mark=mark)


def _reasons(doc: RankedDocument) -> str:
    """Return the main reasons in a few words, those that lower it with a minus."""
    telling = [share for share in doc.features if share.varies][:REASONS]
    return ", ".join(f"{'' if share.adds > 0 else 'despite '}{share.feature} {share.value}" for share in telling)


def _how(r: RankingExplanation) -> tuple[str, ...]:
    seen = "what rules say is shared alike by their features" if r.noun == "rule" else "a weight times a value"
    lines = [
        "Every number is exact: what the features of a document add, against the average document of the query, and "
        f"the mean score make up its score ({seen}).",
        "“Higher than 80 % of 40 documents”: 40 documents of the query have a value, and 80 % of them a lower one.",
    ]
    if r.today is not None:
        lines.append(
            "“5 → 2 ▲”: fifth today, second now. Why it moved is told by the document next to it now that was on "
            "its other side today."
        )
    lines.append("“2=”: tied; documents of one score share the best of their ranks.")
    return tuple(lines)
