"""Explanations of scores as plain sentences, and laid out on a page: which tables, in which order, with which notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rulerank.core.words import counted, joined
from rulerank.explain.changes import Change
from rulerank.explain.explanation import Explanation, RuleGroup, RuleVote, together
from rulerank.explain.standing import About, placed
from rulerank.explain.versus import FeatureGap, GapGroup, Swap, Versus
from rulerank.render.document import Bar, Block, Content, Page, Sentences, Table, bars, only, shown, summed, units

START = "where the two start"
ALIKE = ("feature alike in both", "features alike in both")
SEEN = "the model sees"  # a bin, or a value on the scale of the query
LINES = 10  # of a table; the rest is one line more
LISTED = 10  # queries
LEAST = 0.01  # of the longest bar; what is shorter goes into the rest


def lead(explanation: Explanation) -> str:
    """Say what a document scores and what that is made of."""
    e = explanation
    score = f"{e.document} scores {e.printed}"
    what = e.noun
    if not e.n_rules:
        nothing = "no rule votes on it" if what == "rule" else "no feature counts for it"
        return f"{score}: {nothing}, so it gets {e.base_text}."
    if e.base == 0:
        return f"{score}: the sum of what {_what_adds(e)} add."
    (added,), s = e.parts([e.score - e.base]), "s" if e.n_rules == 1 else ""
    change = f"{'raise' if added.value >= 0 else 'lower'}{s} it by {str(added).lstrip('+-')}"
    cover = f"that cover{s} it " if what == "rule" else ""
    return f"{score}. It starts from {e.printed_base}, {e.base_text}; the {counted(e.n_rules, what)} {cover}{change}."


def _what_adds(e: Explanation) -> str:
    if not any(share.feature == e.baseline for share in e.features):
        return counted(e.n_rules, e.noun)
    others = counted(e.n_rules - 1, "other feature" if e.noun == "feature" else e.noun)
    return f"the {e.baseline} and {others}"


def main_reasons(explanation: Explanation) -> str:
    """Say which features gain and cost a document most."""
    telling = [share for share in explanation.features if share.varies]
    gains = [share for share in telling if share.adds > 0]
    costs = [share for share in telling if share.adds < 0]
    said = []
    if gains:
        said.append(f"It gains most from {joined(tuple(share.said for share in gains[:3]))}")
    if costs:
        said.append(f"{'it' if said else 'It'} loses most by {joined(tuple(share.said for share in costs[:2]))}")
    return "; ".join(said) + "." if said else ""


def main_differences(versus: Versus) -> str:
    """Say which features make most of the difference, and which work against it."""
    for_it, against = most_of(versus.features, versus.base_difference)
    if versus.tied or not for_it:
        return ""
    high, low = versus.high.document, versus.low.document
    but = f" {low} is better in {joined(against)}." if against else ""
    return f"{high} is ahead mostly because of {joined(for_it)}.{but}"


def most_of(gaps: Sequence[FeatureGap], base_difference: float, n: int = 3) -> tuple[list[str], list[str]]:
    """Return the n strongest reasons for a difference in words, and the names of the n strongest against it."""
    parts = [(gap.adds, gap_in_words(gap), gap.feature) for gap in gaps if gap.differs]
    parts = sorted([*parts, (base_difference, START, START)], key=lambda part: -abs(part[0]))
    return [words for adds, words, _ in parts if adds > 0][:n], [name for adds, _, name in parts if adds < 0][:n]


def gap_in_words(gap: FeatureGap) -> str:
    """Say in which the higher of two documents is ahead.

    >>> gap_in_words(FeatureGap("bm25", "bm25 >= 3.85", "bm25 < 1.8", 0.1, "6.48", "1.2"))
    'bm25 (6.48 against 1.2)'
    """
    return f"{gap.feature} ({_against(gap)})"


def explanation_lines(explanation: Explanation, n: int) -> list[str]:
    """Return the score in a sentence, then the n strongest reasons, then the others in one line."""
    groups = [(group.adds, _group_in_words(group)) for group in explanation.groups]
    shown = _first(groups, n)
    left = explanation.groups[len(shown) :]
    if left:
        n_left, adds = together(left)
        shown.append((adds, counted(n_left, f"other {explanation.noun}")))
    numbers = explanation.parts(adds for adds, _ in shown)
    return [lead(explanation), *(f"{number}: {text}" for number, (_, text) in zip(numbers, shown, strict=True))]


def _group_in_words(group: RuleGroup) -> str:
    evidence = group.rules[0].evidence
    return f"{group}; {evidence}" if evidence else str(group)


def _first(parts: Sequence[tuple[float, str]], n: int) -> list[tuple[float, str]]:
    """Return the first n parts, or all where one alone would be left."""
    return list(parts if len(parts) == n + 1 else parts[:n])


def versus_lead(versus: Versus) -> str:
    """Say who stands above whom, and by how much."""
    (high, first), (low, second) = (
        (one.document, f"{one.score:z.{versus.digits}f}") for one in (versus.high, versus.low)
    )
    if versus.tied:
        return f"{high} and {low} both score {first}: they are tied."
    return f"{high} scores {first} and {low} {second}: {versus.printed_difference} between them."


def versus_lines(versus: Versus, n: int) -> list[str]:
    """Return who is above, then the n strongest reasons, then the others in one line, then what would swap them."""

    def words(gap: FeatureGap) -> str:
        return f"{gap.feature}: {_against(gap)}"

    parts = gap_parts(versus.features, versus.base_difference, n, words)
    numbers = versus.parts(adds for adds, _ in parts)
    lines = [f"{number} from {text}" for number, (_, text) in zip(numbers, parts, strict=True)]
    return [versus_lead(versus), *lines, *swap_sentences(versus)]


def gap_parts(
    gaps: Sequence[FeatureGap], base_difference: float, n: int, words: Callable[[FeatureGap], str]
) -> list[tuple[float, str]]:
    """Return the n strongest parts of a difference with their texts, and the others as one: all there is to add up."""
    alike = [gap.adds for gap in gaps if not gap.differs]
    parts = [(gap.adds, words(gap)) for gap in gaps if gap.differs]
    parts += [(base_difference, START), (sum(alike), counted(len(alike), *ALIKE))]
    parts = sorted((part for part in parts if part[0] != 0), key=lambda part: -abs(part[0]))
    first = _first(parts, n)
    rest = [adds for adds, _ in parts[len(first) :]]
    return [*first, *([(sum(rest), counted(len(rest), "smaller part"))] if rest else [])]


def swap_sentences(versus: Versus) -> tuple[str, ...]:
    """Say what would have to go for the order to turn."""
    if versus.tied:
        return ()
    low, found = versus.low.document, []
    features, rules = versus.swap_features, versus.swap_rules
    if features and features.features:
        found.append(f"Without {joined(features.features)}, {low} would be on top: {_how(features, 'features')}.")
    elif features:
        high = versus.high.document
        stays = f"{high} stays on top whichever features are left out: every set of them was tried."
        search = f"Leaving features out did not put {low} on top in a quick search; there may be a set that does."
        found.append(stays if features.proven else search)
    if rules:
        own = [rule for rule in rules.rules if rule.is_rule]
        told = [f"the rule {own[0]}" if len(rules.rules) == 1 else counted(len(own), "rule")] if own else []
        what = joined([*told, *([f"the {versus.high.baseline}"] if len(own) < len(rules.rules) else [])])
        found.append(f"Taking away {what} would put {low} on top: {_how(rules, 'rules')}.")
    return tuple(found)


def _how(swap: Swap, what: str) -> str:
    if swap.proven:
        return f"no smaller set of {what} does that"
    return "found by greedy search, not proven to be the smallest"


def _against(gap: FeatureGap) -> str:
    return f"{gap.high_value} against {gap.low_value}"


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
