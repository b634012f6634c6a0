"""How explanations of scores are laid out on a page: which tables, in which order, with which notes."""

from __future__ import annotations

from dataclasses import replace

from rulerank.core.words import counted
from rulerank.explain.changes import Change
from rulerank.explain.explanation import Explanation, RuleVote, together
from rulerank.explain.sentences import ALIKE, START, lead, main_differences, main_reasons, swap_sentences, versus_lead
from rulerank.explain.standing import About, placed
from rulerank.explain.versus import GapGroup, Versus
from rulerank.render.document import Bar, Block, Content, Page, Sentences, Table, bars, only, shown, summed, units

SEEN = "the model sees"  # a bin, or a value on the scale of the query
LINES = 10  # of a table; the rest is one line more
LISTED = 10  # queries
LEAST = 0.01  # of the longest bar; what is shorter goes into the rest


def explanation_page(e: Explanation) -> Page:
    """Lay an explanation out: features first, then rules, then who was heard, then the arithmetic."""
    blocks: list[Block] = [
        *texts_table((e.document, e.about)),
        _features(e),
        *_rules(e),
        *_members(e),
        *_queries(e),
        *_grades(e),
        Sentences("The arithmetic", (*e.arithmetic, *e.notes, f"Model: {e.method}.")),
    ]
    return Page(f"Why {e.document} scores {e.printed}", _said(lead(e), main_reasons(e)), tuple(blocks))


def versus_page(v: Versus) -> Page:
    """Lay a comparison out: features of both side by side, then what would swap them, then rules."""
    high, low = v.high.document, v.low.document
    differ, alike = ([gap for gap in v.features if gap.differs is way] for way in (True, False))
    rest = [gap.adds for gap in differ[LINES:]]
    numbers = v.parts(
        [*(gap.adds for gap in differ[:LINES]), sum(rest), sum(gap.adds for gap in alike), v.base_difference]
    )
    *_, of_rest, of_alike, of_base = numbers
    rows: list[tuple[Content, ...]] = [
        (
            gap.feature,
            placed(gap.high_value, gap.high_standing),
            placed(gap.low_value, gap.low_standing),
            only(gap.of_high, gap.feature),
            only(gap.of_low, gap.feature),
            bar,
        )
        for gap, bar in zip(differ[:LINES], numbers, strict=False)
    ]
    rows += [(counted(len(rest), "other that differs", "others that differ"), *[""] * 4, of_rest)] if rest else []
    rows += [(counted(len(alike), *ALIKE), *[""] * 4, of_alike)] if alike else []
    if v.base_difference:
        rows.append((START, "", "", shown(v.high.base), shown(v.low.base), of_base))
    note = f"These add up to the difference, {v.printed_difference}."
    if v.high.noun == "rule":
        note += " What a rule adds is shared by those of its features that differ."
    header = ("feature", high, low, f"{SEEN}: {high}", low, "difference")
    table = Table("Feature by feature", header, tuple(rows), 5, note)
    blocks: list[Block] = [
        *texts_table((high, v.high.about), (low, v.low.about)),
        without_columns(table, 3, 4) if v.high.sees_values and v.low.sees_values else table,
    ]
    if swap_sentences(v):
        blocks.append(Sentences("What would turn the order", swap_sentences(v)))
    if any(gap.of_high and gap.of_high.by_grade for group in v.groups for gap in group.rules):
        blocks.append(_rule_gaps(v))
    for e in (v.high, v.low):
        blocks += [*_members(e, f" of {e.document}")]
    title = f"Why {high} and {low} are tied" if v.tied else f"Why {high} is above {low}"
    return Page(title, _said(versus_lead(v), main_differences(v)), tuple(blocks))


def changes_table(document: str, above: float, changes: tuple[Change, ...], n: int = LINES) -> Table | Sentences:
    """Lay out what would lift a document above a score."""
    title = f"What would lift {document} above {shown(above)}"
    if not changes:
        return Sentences(title, ("No change of a single feature does that, or it scores higher already.",))
    rows = tuple(
        (
            c.feature,
            only(c.now, c.feature),
            only(c.then, c.feature),
            "" if c.n_bins is None else str(c.n_bins),
            shown(c.score),
        )
        for c in changes[:n]
    )
    note = "One of these alone is enough, all else as it is; the smallest change first."
    table = Table(title, ("feature", "now", "then", "bins away", "new score"), rows, 3, note)
    return table if any(c.n_bins is not None for c in changes[:n]) else without_columns(table, 3)


def texts_table(*docs: tuple[str, About]) -> list[Table]:
    """Show what people read of documents, and what was asked; none where the data has no texts."""
    names = dict.fromkeys(name for _, about in docs for name in about.texts)
    asked = next((about.query_text for _, about in docs if about.query_text), "")
    rows: list[tuple[Content, ...]] = [(name, *(about.texts.get(name, "") for _, about in docs)) for name in names]
    if not rows and not asked:
        return []
    rows = [("asked for", asked, *[""] * (len(docs) - 1)), *rows] if asked else rows
    return [Table("What people read", ("", *(name for name, _ in docs)), tuple(rows), len(docs) + 1)]


def without_columns(table: Table, *places: int) -> Table:
    """Leave columns of words out: those of what the model sees, where these are the values themselves."""
    kept = [place for place in range(len(table.header)) if place not in places]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    header = tuple(table.header[place] for place in kept)
    return replace(table, header=header, rows=rows, n_left=table.n_left - sum(one < table.n_left for one in places))


def _features(e: Explanation) -> Table:
    rest = [share.adds for share in e.features[LINES:]]
    numbers = e.parts([*(share.adds for share in e.features[:LINES]), *([sum(rest)] if rest else [])])
    rows: list[tuple[Content, ...]] = [
        (
            share.feature,
            placed(share.value, share.standing),
            only(share.text, share.feature),
            number,
            f"{e.score - share.effect:z.{e.digits}f}",
        )
        for share, number in zip(e.features[:LINES], numbers, strict=False)
    ]
    rows += [(counted(len(rest), "other feature"), "", "", numbers[-1], "")] if rest else []
    start = f"{e.printed_base} and " if e.base else ""
    how = (
        "what a rule adds is shared alike by its features. The last column leaves all rules with the feature out: a "
        "mean can rise when a weak part goes."
        if e.noun == "rule"
        else "each is a weight times a value. The last column leaves the feature out."
    )
    note = f"{start}these add up to {e.printed}; {how}"
    header = ("feature", e.document, SEEN, "adds", "score without it")
    table = Table("Feature by feature", header, tuple(rows), 3, note)
    return without_columns(table, 2) if e.sees_values else table


def _rules(e: Explanation) -> list[Table]:
    if not any(group.rules[0].by_grade for group in e.groups):
        return []
    n = n_telling(bars(group.adds for group in e.groups))
    n_left, left = together(e.groups[n:])
    numbers = e.parts([*(group.adds for group in e.groups[:n]), *([left] if n_left else [])])
    rows: list[tuple[Content, ...]] = [
        (str(group.rules[0]), group.rules[0].evidence, f"{group.n_rules:,}", number)
        for group, number in zip(e.groups[:n], numbers, strict=False)
    ]
    rows += [("all others", "", f"{n_left:,}", numbers[-1])] if n_left else []
    note = "Each line is the strongest rule of a group that shares a feature with it and points the same way."
    return [Table("The rules that voted", ("strongest rule", "its evidence", "rules", "adds"), tuple(rows), 2, note)]


def _rule_gaps(v: Versus) -> Table:
    n = n_telling(bars(group.adds for group in v.groups))
    left = v.groups[n:]
    adds = [*(group.adds for group in v.groups[:n]), *([sum(group.adds for group in left)] if left else [])]
    numbers = v.parts([*adds, *([v.base_difference] if v.base_difference else [])])
    rows: list[tuple[Content, ...]] = [
        (*_pair(group), f"{group.n_rules:,}", number) for group, number in zip(v.groups[:n], numbers, strict=False)
    ]
    rows += [("all others", "", f"{sum(group.n_rules for group in left):,}", numbers[n])] if left else []
    rows += [(START, "", "", numbers[-1])] if v.base_difference else []
    high, low = v.high.document, v.low.document
    note = (
        f"{counted(v.n_same, 'rule')} vote for both, {v.n_only_high:,} for {high} alone and {v.n_only_low:,} for {low} "
        "alone. Each line stands for rules that share a feature with its two and favour the same document."
    )
    return Table("Rule by rule", (high, low, "rules", "difference"), tuple(rows), 2, note)


def _pair(group: GapGroup) -> tuple[str, str]:
    def said(rule: RuleVote | None) -> str:
        return "no rule" if rule is None else f"{rule} (mean grade {rule.mean_grade:.2f}, {rule.covered:,} in training)"

    leader = group.rules[0]
    return said(leader.of_high), said(leader.of_low)


def _members(e: Explanation, of: str = "") -> list[Table]:
    if not e.members:
        return []
    numbers = summed((member.adds for member in e.members), units(e.score, e.digits), e.digits)
    rows = tuple(
        (member.name, f"{member.weight:.1%}", shown(member.score), shown(member.estimate), number)
        for member, number in zip(e.members, numbers, strict=True)
    )
    header = ("member", "weight", "its own score", "on the common scale", "adds")
    return [
        Table(f"The members{of}", header, rows, 1, "Weight times the score on the common scale adds up to the score.")
    ]


def _queries(e: Explanation) -> list[Table]:
    if not e.queries:
        return []
    first, rest = e.queries[:LISTED], e.queries[LISTED:]
    numbers = e.parts([*(vote.adds for vote in first), *([sum(vote.adds for vote in rest)] if rest else [])])
    rows: list[tuple[Content, ...]] = [
        (str(vote.query), f"{vote.weight:.1%}", shown(vote.rank), number)
        for vote, number in zip(first, numbers, strict=False)
    ]
    rows += [(f"{len(rest)} others", f"{sum(vote.weight for vote in rest):.1%}", "", numbers[-1])] if rest else []
    header = ("query", "weight", "its estimate", "adds")
    return [Table("The training queries that are heard", header, tuple(rows), 1, "")]


def _grades(e: Explanation) -> list[Table]:
    if not e.grades:
        return []
    rows = tuple((str(v.grade), f"{v.n_rules:,}", f"{v.mean:.4f}", f"{v.share:.1%}") for v in e.grades)
    return [Table("Grade by grade", ("grade", "rules for it", "mean strength", "share"), rows, 1, "")]


def n_telling(numbers: list[Bar]) -> int:
    """Return how many of the first numbers are worth a line: not too many, and none that is shown as next to nothing.

    >>> n_telling(bars([0.5, -0.2, 0.001]))
    2
    """
    return sum(number.length >= LEAST for number in numbers[:LINES])


def _said(*sentences: str) -> tuple[str, ...]:
    return tuple(filter(None, sentences))
