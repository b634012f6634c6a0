"""Explanations as plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rulerank.core.words import counted, joined
from rulerank.explain.explanation import Explanation, RuleGroup, together
from rulerank.explain.versus import FeatureGap, Swap, Versus

START = "where the two start"
ALIKE = ("feature alike in both", "features alike in both")


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
