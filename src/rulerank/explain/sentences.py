"""Explanations as plain sentences."""

from __future__ import annotations

from rulerank.core.words import counted, joined
from rulerank.explain.explanation import Explanation
from rulerank.explain.versus import FeatureGap, Swap, Versus
from rulerank.render.document import bars, shown


def lead(explanation: Explanation) -> str:
    """Say what a document scores and what that is made of."""
    e = explanation
    score = f"{e.document} scores {shown(e.score)}"
    what = e.noun
    if not e.n_rules:
        nothing = "no rule votes on it" if what == "rule" else "no feature counts for it"
        return f"{score}: {nothing}, so it gets {e.base_text}."
    if e.base == 0:
        return f"{score}: the sum of what {counted(e.n_rules, what)} add."
    added, s = e.score - e.base, "s" if e.n_rules == 1 else ""
    change = f"raise{s} it by {shown(added)}" if added >= 0 else f"lower{s} it by {shown(-added)}"
    cover = f"that cover{s} it " if what == "rule" else ""
    return f"{score}. It starts from {shown(e.base)}, {e.base_text}; the {counted(e.n_rules, what)} {cover}{change}."


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
    for_it = [gap for gap in versus.features if gap.adds > 0 and gap.differs]
    against = [gap for gap in versus.features if gap.adds < 0 and gap.differs]
    if versus.tied or not for_it:
        return ""
    high, low = versus.high.document, versus.low.document
    reasons = joined(tuple(gap_in_words(gap) for gap in for_it[:3]))
    but = f" {low} is better in {joined(tuple(gap.feature for gap in against[:3]))}." if against else ""
    return f"{high} is ahead mostly because of {reasons}.{but}"


def gap_in_words(gap: FeatureGap) -> str:
    """Say in which the higher of two documents is ahead.

    >>> gap_in_words(FeatureGap("bm25", "bm25 >= 3.85", "bm25 < 1.8", 0.1, "6.48", "1.2"))
    'bm25 (6.48 against 1.2)'
    """
    return f"{gap.feature} ({_against(gap)})"


def explanation_lines(explanation: Explanation, n: int) -> list[str]:
    """Return the score in a sentence, then the n strongest reasons."""
    groups = explanation.groups[:n]
    numbers = bars(group.adds for group in groups)
    lines = [lead(explanation)]
    for group, number in zip(groups, numbers, strict=True):
        evidence = group.rules[0].evidence
        lines.append(f"{number}: {group}" + (f"; {evidence}" if evidence else ""))
    return lines


def versus_lead(versus: Versus) -> str:
    """Say who stands above whom, and by how much."""
    high, low = versus.high, versus.low
    if versus.tied:
        return f"{high.document} and {low.document} both score {shown(high.score)}: they are tied."
    return (
        f"{high.document} scores {shown(high.score)} and {low.document} {shown(low.score)}: "
        f"{shown(versus.difference)} between them."
    )


def versus_lines(versus: Versus, n: int) -> list[str]:
    """Return who is above, then the n strongest reasons, then what would swap them."""
    gaps = [gap for gap in versus.features if gap.differs][:n]
    lines = [versus_lead(versus)]
    for gap, number in zip(gaps, bars(gap.adds for gap in gaps), strict=True):
        lines.append(f"{number} from {gap.feature}: {_against(gap)}")
    return [*lines, *swap_sentences(versus)]


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
        what = f"the rule {rules.rules[0]}" if len(rules.rules) == 1 else counted(len(rules.rules), "rule")
        found.append(f"Taking away {what} would put {low} on top: {_how(rules, 'rules')}.")
    return tuple(found)


def _how(swap: Swap, what: str) -> str:
    if swap.proven:
        return f"no smaller set of {what} does that"
    return "found by greedy search, not proven to be the smallest"


def _against(gap: FeatureGap) -> str:
    return f"{gap.high_value} against {gap.low_value}"
