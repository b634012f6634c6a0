"""Why a document has its score, and why one ranks above another: frozen values that print well and add up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rulerank._util.parameters import is_whole
from rulerank._util.words import counted, joined
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.explain.documents import About, Documents, find_documents, method_of, placed
from rulerank.rankers.base import Ranker
from rulerank.render.document import (
    Block,
    Cell,
    Content,
    Page,
    Sentences,
    Table,
    in_digits,
    only,
    sum_digits,
    summed_rows,
    units,
)
from rulerank.render.html import render_fragment, render_html
from rulerank.render.text import render_markdown, render_text, rich_page

Parts = Sequence[tuple[tuple[Content, ...], float]]  # of a sum: cells of a table, and what they add
IN_ALL = ("the same in all ", "as in all ")  # how the place of a value begins that tells no documents apart
START = "where the two start"
ALIKE = ("feature equal in both", "features equal in both")
SEEN = "the model sees"  # a bin, or a value on the scale of the query
LINES = 10  # of a table; the rest is one line more
READS_TOO = (
    "the baseline ranking is not a feature, so its part is one number here; explain the baseline itself to see what it "
    "is made of"
)


class Shown:
    """A value that can be shown as a page: in the terminal, as text, Markdown or HTML, and as JSON."""

    def page(self) -> Page:
        """Return the content, without a format."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values with all their digits."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return JSON, with all digits."""
        return json.dumps(self.to_dict(), indent=2)

    def to_text(self) -> str:
        """Return aligned text."""
        return render_text(self.page())

    def to_markdown(self) -> str:
        """Return Markdown."""
        return render_markdown(self.page())

    def to_html(self) -> str:
        """Return a web page that needs nothing else: no scripts, no fonts, no other files.

        Pictures of curves are drawn where Matplotlib is installed.
        """
        return render_html(self.drawn())

    def __repr__(self) -> str:
        return self.to_text()

    def __rich__(self) -> Any:
        return rich_page(self.page())

    def _repr_html_(self) -> str:
        return render_fragment(self.drawn())

    def drawn(self) -> Page:
        """Return what a web page shows: pictures too, where there are some."""
        return self.page()


@dataclass(frozen=True, slots=True)
class RuleVote:
    """A rule that covers the document: its items, what it adds to the score, and the training rows behind it."""

    items: tuple[str, ...]
    adds: float
    rows_by_grade: tuple[int, ...] = ()  # training rows that hold the items, of grade 0, 1, ...; empty: not known
    queries: tuple[int, ...] | None = None  # training queries with such rows; where they are better; where worse

    @property
    def evidence(self) -> str:
        """The training documents like this, in words.

        >>> RuleVote(("bm25 >= 2",), 0.1, (12, 7, 26)).evidence
        '45 like it in training: 58% grade 2, 16% grade 1, 27% grade 0'
        """
        covered = sum(self.rows_by_grade)
        if not covered:
            return ""
        known = [(grade, n) for grade, n in enumerate(self.rows_by_grade) if n]
        shares = ", ".join(f"{n / covered:.0%} grade {grade}" for grade, n in reversed(known))
        agree = ""
        if self.queries is not None:
            n_queries, up, down = self.queries
            agree = f"; up in {up}, down in {down} of {counted(n_queries, 'query', 'queries')}"
        return f"{covered:,} like it in training: {shares}{agree}"

    def __str__(self) -> str:
        return " & ".join(self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, those that are known."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class FeatureShare:
    """What one feature, or the baseline ranking, adds to a score."""

    feature: str
    text: str  # what the model sees: a bin or a value, in words
    adds: float  # what each rule adds is shared alike by the rule's features
    value: str = ""  # as it came, before any normalisation
    standing: str = ""  # where the value lies among those of the query
    name: str = ""  # what people call the feature

    @property
    def label(self) -> Cell:
        """What people call it; the name in the data is shown on hover."""
        return label_of(self.feature, self.name)

    @property
    def in_words(self) -> str:
        """The feature in a sentence: its value and where that lies, or what the model sees.

        >>> FeatureShare("bm25", "bm25 >= 3.85", 0.1, "6.48", "highest of 40").in_words
        'bm25 (6.48, highest of 40)'
        """
        known = placed(self.value, self.standing)
        return f"{self.label} ({known})" if known else self.text

    @property
    def varies(self) -> bool:
        """Whether the documents of the query differ in it: only then it is a reason for their order."""
        return not self.standing.startswith(IN_ALL)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """Explanation of a score: score = base + contributions of the features, exactly."""

    document: str
    method: str
    score: float
    base: float
    base_text: str  # what the base is, in words
    features: tuple[FeatureShare, ...]  # the largest share first
    rules: tuple[RuleVote, ...]  # the strongest of those that vote, the first the strongest; none for weighted sums
    n_rules: int  # rules that vote, or features that count
    notes: tuple[str, ...] = ()  # what else affects the score, in sentences
    noun: str = "rule"  # what votes: rules, or features by themselves
    baseline: str = ""  # name of the part of the baseline ranking in `features`; empty where there is none
    sees_values: bool = False  # the model sees the values as they came, and no bins or scales of them
    about: About = field(default_factory=About)

    @property
    def digits(self) -> int:
        """With how many decimals the score and its parts are printed."""
        return sum_digits([self.base, *(share.adds for share in self.features), *(rule.adds for rule in self.rules)])

    @property
    def printed(self) -> str:
        """The score as it is printed."""
        return f"{self.score:z.{self.digits}f}"

    @property
    def added(self) -> int:
        """What all parts add, as it is printed, in units of the last digit."""
        return units(self.score, self.digits) - units(self.base, self.digits)

    def page(self) -> Page:
        blocks: list[Block] = [*texts_table((self.document, self.about)), self._features(), *self._rules()]
        blocks.append(Sentences("Notes", (*self.notes, f"Model: {self.method}.")))
        lead = tuple(filter(None, (self._lead(), self._main_reasons())))
        return Page(f"Why {self.document} scores {self.printed}", lead, tuple(blocks))

    def lines(self, n: int = 5) -> list[str]:
        """Return plain sentences: the score, then the n strongest reasons, then the others in one line."""
        parts = [
            ((f"{share.label} {placed(share.value, share.standing)}".strip(),), share.adds) for share in self.features
        ]
        rows = summed_rows(parts, self.added, self.digits, n, "other feature")
        return [self._lead(), *(f"{number}: {text}" for text, number in rows)]

    def rule_lines(self, n: int = 5) -> list[str]:
        """Return the n strongest rules with their evidence, and the others in one line: they add up, too."""
        rows = self._strongest_rules(n)
        return [f"{number}: {rule}{'; ' if evidence else ''}{evidence}" for rule, evidence, number in rows]

    def _lead(self) -> str:
        score = f"{self.document} scores {self.printed}"
        if not self.n_rules:
            nothing = "no feature counts for it" if self.noun == "feature" else "no rule votes on it"
            return f"{score}: {nothing}, so it gets {self.base_text}."
        if self.base == 0:
            what = counted(self.n_rules, self.noun)
            if self.baseline:
                others = counted(self.n_rules - 1, "other feature" if self.noun == "feature" else self.noun)
                what = f"the {self.baseline} and {others}"
            return f"{score}: the sum of what {what} add."
        start, s = f"{self.base:z.{self.digits}f}", "s" if self.n_rules == 1 else ""
        change = f"{'raise' if self.added >= 0 else 'lower'}{s} it by {in_digits(abs(self.added), self.digits)}"
        cover = f"that cover{s} it " if self.noun == "rule" else ""
        voted = counted(self.n_rules, self.noun)
        return f"{score}. It starts from {start}, {self.base_text}; the {voted} {cover}{change}."

    def _main_reasons(self) -> str:
        telling = [share for share in self.features if share.varies]
        gains, costs = ([share.in_words for share in telling if sign * share.adds > 0] for sign in (1, -1))
        said = [f"It gains most from {joined(gains[:3])}"] if gains else []
        said += [f"{'it' if said else 'It'} loses most by {joined(costs[:2])}"] if costs else []
        return "; ".join(said) + "." if said else ""

    def _features(self) -> Table:
        parts = [
            ((share.label, placed(share.value, share.standing), only(share.text, share.feature)), share.adds)
            for share in self.features
        ]
        start = f"{self.base:z.{self.digits}f} and " if self.base else ""
        how = "; the features of a rule share equally what it adds" if self.noun == "rule" else ""
        if self.noun == "feature" and not self.baseline:
            how = "; each is a weight times a value"
        note = f"{start}these add up to {self.printed}{how}."
        rows = summed_rows(parts, self.added, self.digits, LINES, "other feature")
        table = Table("Feature by feature", ("feature", self.document, SEEN, "adds"), tuple(rows), 3, note)
        return table.without(2) if self.sees_values else table

    def _strongest_rules(self, n: int) -> list[tuple[Content, ...]]:
        parts: list[tuple[tuple[Content, ...], float]] = [
            ((str(rule), rule.evidence), rule.adds) for rule in self.rules[:n]
        ]
        if self.n_rules > len(parts):
            left = self.score - self.base - sum(adds for _, adds in parts)
            parts.append(((counted(self.n_rules - len(parts), "other rule"), ""), left))
        return summed_rows(parts, self.added, self.digits, len(parts), "")

    def _rules(self) -> list[Table]:
        if not self.rules:
            return []
        rows = tuple(self._strongest_rules(LINES))
        table = Table("The strongest rules", ("rule", "its evidence", "adds"), rows, 2)
        return [table if any(rule.evidence for rule in self.rules) else table.without(1)]

    def to_dict(self) -> dict[str, Any]:
        values = {
            name: value for name, value in asdict(self).items() if value != () and (name, value) != ("baseline", "")
        }
        return {"kind": "explanation"} | values | {"rules": [rule.to_dict() for rule in self.rules]}


def explain_score(ranker: Ranker, x: Any, row: int | None, n_rules: int | None) -> Explanation:
    """Explain the score of one document; x, row and n_rules are those of `Ranker.explain`."""
    return explained(*find_documents(ranker, x, row), n_rules)


def explained(documents: Documents, row: int, n_rules: int | None) -> Explanation:
    """Explain the score of one of some documents, with its n_rules strongest rules (None: all)."""
    ranker, tables, found = documents.ranker, documents.tables, documents.contributions(row)
    values = found.values[0]
    adds = found.by_feature(len(documents.features) + 1)[0]
    parts = sorted({part for term in np.flatnonzero(values).tolist() for part in found.features[term]})
    shares = [share_of(documents, row, part, float(adds[part])) for part in parts]
    strongest = strongest_first(values)[:n_rules] if documents.noun == "rule" else []
    return Explanation(
        document=documents.names[row],
        method=method_of(ranker),
        score=documents.score(row),
        base=float(found.base[0]),
        base_text=ranker.base_text,
        features=tuple(sorted(shares, key=lambda share: -abs(share.adds))),
        rules=tuple(rule_votes(documents, row, strongest)),
        n_rules=int(np.count_nonzero(values)),
        notes=(READS_TOO,) if tables is not None and tables.from_model else ranker.notes_on(documents.checked, row),
        noun=documents.noun,
        baseline=documents.baseline if len(documents.features) in parts else "",
        sees_values=documents.noun != "rule" and ranker.normalize_ is None,
        about=documents.about(row),
    )


def strongest_first(adds: Array) -> list[int]:
    """Return the places of what is not 0, the largest first; equal but for rounding is equal."""
    return np.argsort(-np.round(np.abs(adds), 12), kind="stable")[: np.count_nonzero(adds)].tolist()


def share_of(documents: Documents, row: int, part: int, adds: float) -> FeatureShare:
    """Return what one part adds to a score, with its value as it came and as the model sees it."""
    seen, value = documents.seen(row, part), documents.value(row, part)
    name = documents.name(part)
    known = value or only(seen, name)
    return FeatureShare(name, seen, adds, known, documents.standing(row, part), documents.human(part))


def label_of(feature: str, name: str = "") -> Cell:
    """Return what people call a feature as a cell that shows its name in the data on hover."""
    return Cell(name or feature, about=feature if name and name != feature else "")


def rule_votes(documents: Documents, row: int, terms: Sequence[int]) -> list[RuleVote]:
    """Return some terms of a document's score as rules that a person can read."""
    found, counts = documents.contributions(row), documents.counts(row) if terms else None
    votes = []
    for term in terms:
        items, adds = documents.items(row, term, found.features[term]), float(found.values[0, term])
        by_grade = () if counts is None else tuple(counts.grades[term].tolist())
        queries = None if counts is None or not counts.tallies.shape[1] else tuple(counts.tallies[term, :3].tolist())
        votes.append(RuleVote(items, adds, by_grade, queries))
    return votes


@dataclass(frozen=True, slots=True)
class FeatureGap:
    """What one feature adds to the difference of two scores."""

    feature: str
    of_high: str  # what the model sees: a bin or a value, in words
    of_low: str
    adds: float  # to the difference
    high_value: str = ""  # as it came
    low_value: str = ""
    high_standing: str = ""  # of the value, among those of its query
    low_standing: str = ""
    name: str = ""  # what people call the feature

    @property
    def label(self) -> Cell:
        """What people call it; the name in the data is shown on hover."""
        return label_of(self.feature, self.name)

    @property
    def differs(self) -> bool:
        """Whether the two differ as the model sees them."""
        return self.of_high != self.of_low

    @property
    def against(self) -> str:
        """The two values.

        >>> FeatureGap("bm25", "bm25 >= 3.85", "bm25 < 1.8", 0.1, "6.48", "1.2").against
        '6.48 against 1.2'
        """
        return f"{self.high_value} against {self.low_value}"


@dataclass(frozen=True, repr=False)
class Versus(Shown):
    """Why one document scores above another: difference = base_difference + differences by feature."""

    high: Explanation
    low: Explanation
    difference: float
    base_difference: float  # of where the two start: 0 except for mixtures
    features: tuple[FeatureGap, ...]  # the largest first

    @property
    def tied(self) -> bool:
        return self.difference == 0

    @property
    def digits(self) -> int:
        """With how many decimals the two scores, their difference and its parts are printed."""
        return sum_digits([self.base_difference, *(gap.adds for gap in self.features)], self.difference)

    @property
    def added(self) -> int:
        """The difference of the two scores as they are printed, in units of the last digit."""
        return units(self.high.score, self.digits) - units(self.low.score, self.digits)

    def lines(self, n: int = 5) -> list[str]:
        """Return plain sentences: who is above, then the n strongest reasons, then the others in one line."""
        parts = [((f"{gap.label}: {gap.against}",), gap.adds) for gap in self.features if gap.differs]
        rows = summed_rows(with_the_rest(parts, self), self.added, self.digits, n, "smaller part")
        return [self._lead(), *(f"{number} from {text}" for text, number in rows)]

    def _lead(self) -> str:
        high, low = self.high, self.low
        if self.tied:
            return f"{high.document} and {low.document} both score {high.score:z.{self.digits}f}: they are tied."
        first, second = (f"{one.score:z.{self.digits}f}" for one in (high, low))
        between = in_digits(self.added, self.digits)
        return f"{high.document} scores {first} and {low.document} {second}: a difference of {between}."

    def page(self) -> Page:
        high, low = self.high.document, self.low.document
        blocks: list[Block] = [*texts_table((high, self.high.about), (low, self.low.about)), self._features()]
        notes = [f"{one.document}: {note}" for one in (self.high, self.low) for note in one.notes]
        blocks += [Sentences("Notes", tuple(notes))] if notes else []
        for_it, against = most_of(self.features, self.base_difference)
        lead = [self._lead()]
        if for_it and not self.tied:
            but = f" {low} is better in {joined(against)}." if against else ""
            lead.append(f"{high} is ahead mostly because of {joined(for_it)}.{but}")
        title = f"Why {high} and {low} are tied" if self.tied else f"Why {high} is above {low}"
        return Page(title, tuple(lead), tuple(blocks))

    def _features(self) -> Table:
        parts = [
            (
                (
                    gap.label,
                    placed(gap.high_value, gap.high_standing),
                    placed(gap.low_value, gap.low_standing),
                    only(gap.of_high, gap.feature),
                    only(gap.of_low, gap.feature),
                ),
                gap.adds,
            )
            for gap in self.features
            if gap.differs
        ]
        rows = summed_rows(with_the_rest(parts, self), self.added, self.digits, LINES, "smaller part")
        note = f"These add up to the difference, {in_digits(self.added, self.digits)}."
        if self.high.noun == "rule":
            note += " Of the features of a rule, those that differ share what it adds."
        high, low = self.high.document, self.low.document
        table = Table(
            "Feature by feature", ("feature", high, low, f"{SEEN}: {high}", low, "difference"), tuple(rows), 5, note
        )
        return table.without(3, 4) if self.high.sees_values and self.low.sees_values else table

    def to_dict(self) -> dict[str, Any]:
        docs = {"kind": "versus", "high": self.high.to_dict(), "low": self.low.to_dict()}
        gaps = [asdict(gap) for gap in self.features]
        return docs | {"difference": self.difference, "base_difference": self.base_difference, "features": gaps}


def explain_versus(ranker: Ranker, x: Any, row: int | None, versus: Any, n_rules: int | None) -> Versus:
    """Explain why one document ranks above or below another."""
    one = find_documents(ranker, x, row, "a")
    beside = is_whole(versus, 0)
    if beside and versus == row:
        name = one[0].names[one[1]]
        raise DataError(f"{name} cannot be compared with itself: row and versus must be two documents, got {row}")
    other = find_documents(ranker, x, versus) if beside else find_documents(ranker, versus, None, "b")
    first, second = explained(*one, n_rules), explained(*other, n_rules)
    if second.score > first.score:
        one, other, first, second = other, one, second, first
    difference, base_difference = first.score - second.score, first.base - second.base
    return Versus(first, second, difference, base_difference, feature_gaps(one, other))


def feature_gaps(high: tuple[Documents, int], low: tuple[Documents, int]) -> tuple[FeatureGap, ...]:
    """Return what features add to the difference of two scores, the largest first.

    What rules over the same features add to it is shared alike by those of them in which the two documents differ; a
    rule that both have weighs differently among their other rules, and all its features share that.
    """
    above, below = (documents.contributions(row) for documents, row in (high, low))
    voted = np.flatnonzero((above.values[0] != 0) | (below.values[0] != 0)).tolist()
    net = above.values[0] - below.values[0]
    parts = sorted({part for term in voted for part in above.features[term]})
    shares = {part: [share_of(*doc, part, 0.0) for doc in (high, low)] for part in parts}
    differs = {part for part, (one, two) in shares.items() if one.text != two.text}
    adds = dict.fromkeys(parts, 0.0)
    for term in voted:
        own = [part for part in above.features[term] if part in differs] or above.features[term]
        for part in own:
            adds[part] += float(net[term]) / len(own)
    gaps = [
        FeatureGap(
            one.feature, one.text, two.text, adds[part], one.value, two.value, one.standing, two.standing, one.name
        )
        for part, (one, two) in shares.items()
    ]
    return tuple(sorted(gaps, key=lambda gap: -abs(gap.adds)))


def most_of(gaps: Sequence[FeatureGap], base_difference: float, n: int = 3) -> tuple[list[str], list[str]]:
    """Return the n strongest reasons for a difference in words, and the names of the n strongest against it."""
    parts = [(gap.adds, f"{gap.label} ({gap.against})", str(gap.label)) for gap in gaps if gap.differs]
    parts = sorted([*parts, (base_difference, START, START)], key=lambda part: -abs(part[0]))
    return [words for adds, words, _ in parts if adds > 0][:n], [name for adds, _, name in parts if adds < 0][:n]


def with_the_rest(parts: Parts, why: Any) -> Parts:
    """Return all that a difference is made of: features that differ, the others together, where the two start."""
    width = len(parts[0][0]) if parts else 1
    alike = [gap.adds for gap in why.features if not gap.differs]
    more = [(START, why.base_difference), (counted(len(alike), *ALIKE), sum(alike))]
    parts = [*parts, *(((name, *[""] * (width - 1)), adds) for name, adds in more if adds)]
    return sorted(parts, key=lambda part: -abs(part[1]))


def texts_table(*docs: tuple[str, About]) -> list[Table]:
    """Return a table of the texts of documents and the query; none where the data has no texts."""
    names = dict.fromkeys(name for _, about in docs for name in about.texts)
    asked = next((about.query_text for _, about in docs if about.query_text), "")
    rows: list[tuple[Content, ...]] = [("query", asked, *[""] * (len(docs) - 1))] if asked else []
    rows += [(name, *(about.texts.get(name, "") for _, about in docs)) for name in names]
    return [Table("The documents", ("", *(name for name, _ in docs)), tuple(rows), len(docs) + 1)] if rows else []
