"""What `rulerank labels` prints of several raters: counts, disputes, agreement, the history, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulerank.cli.output import print_json, print_table, report
from rulerank.core.words import counted
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.agreement import Share
    from rulerank.judging.store import LabelStore

COMMAND_LINE = "the command line"  # who says so, in the history


def print_counts(store: LabelStore, *, as_json: bool) -> None:
    """Print how many labels there are, and how they count."""
    from rulerank.dataset import warn_if_one_sided
    from rulerank.judging.grades import Counting

    found, counting = store.labels(), Counting.now(store)
    counts = {
        "label": len(found),
        "document": len({(label.query, label.doc) for label in found}),
        "rater": len({label.rater for label in found}),
    }
    payload: dict[str, object] = {f"{noun}s": n for noun, n in counts.items()}
    payload |= {"decisions": len(counting.decided), "judges": dict(counting.judges)}
    payload["settings"] = counting.settings.to_dict()
    warn_if_one_sided(counting.grades(found).values())
    text = f"{store.name}: {', '.join(counted(n, noun) for noun, n in counts.items())}"
    if counting.decided:
        text += f", {counted(len(counting.decided), 'decision')}"
    if counts["rater"] > 1 or counting.decided:
        text += f"\n{counting.sentence()}"
    graded = {doc for doc, by in counting.people(found).items() if any(grade is not None for grade in by.values())}
    undecided = len(graded - counting.grades(found).keys() - counting.decided.keys())
    payload["undecided"] = undecided
    if undecided:
        text += f"\n{counted(undecided, 'document')} without a grade until decided (--disputes)."
    report(payload, text, as_json=as_json, target="")


def print_disputes(store: LabelStore, *, as_json: bool) -> None:
    """Print the documents on which people disagree, the largest dispute first, and then those of other judges."""
    from rulerank.judging.agreement import disputes
    from rulerank.judging.grades import Counting

    counting, labels = Counting.now(store), store.labels()
    said = {(label.query, label.doc, label.rater): label for label in labels}
    given: dict[tuple[str, str], dict[str, int | None]] = {}
    for label in labels:
        given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
    found = disputes(given, counting.judges)
    if as_json:
        print_json(
            {
                "disputes": [
                    {
                        "query": one.doc[0],
                        "doc": one.doc[1],
                        "spread": one.spread,
                        "labels": [said[(*one.doc, rater)].to_dict() for rater in one.grades],
                        "decided": one.doc in counting.decided,
                        "decision": counting.decided.get(one.doc),
                    }
                    for one in found
                ]
            }
        )
        return
    if not found:
        print(f"{store.name}: no two raters disagree on a document that people have graded")
        return
    rows = []
    for one in found:
        grades = ", ".join(f"{rater} {grade}" for rater, grade in sorted(one.grades.items()))
        last = max(said[(*one.doc, rater)].time for rater in one.grades)
        decided = "" if one.doc not in counting.decided else _grade(counting.decided[one.doc])
        rows.append([*one.doc, grades, f"{last:%Y-%m-%d %H:%M}", str(one.spread), decided])
    print_table(["query", "document", "grades", "last (UTC)", "apart", "decided"], rows, n_left=4)


def print_agreement(store: LabelStore, *, as_json: bool) -> None:
    """Print how well people agree, and other judges with them, each with its interval."""
    from rulerank.judging.agreement import agreement, agreement_parts, alpha_interval, judge_agreement
    from rulerank.judging.grades import Counting, grades_of

    counting, labels = Counting.now(store), store.labels()
    people = [label for label in labels if label.rater not in counting.judges]
    whole, parts, grades = agreement(people), agreement_parts(people), counting.grades(labels)
    interval = alpha_interval([[g for g in by.values() if g is not None] for by in counting.people(labels).values()])
    by_judge = grades_of(labels, sorted(counting.judges))
    judges = [judge_agreement(judge, found, grades) for judge, found in by_judge.items()]
    if as_json:
        payload: dict[str, Any] = {"people": whole.to_dict(), **parts.to_dict()}
        payload["interval"] = None if isinstance(interval, str) else list(interval)
        print_json(payload | {"judges": [one.to_dict() for one in judges]})
        return
    known = whole.ordinal.reason or f"{whole.ordinal.value:.2f}"
    sure = f" ({interval})" if isinstance(interval, str) else f" (90 % interval {interval[0]:.2f} to {interval[1]:.2f})"
    print(f"Krippendorff's alpha of the people: {known}{'' if whole.ordinal.reason else sure}")
    rows = [
        [f"{kind} {part.name}", *_share(part.share)]
        for kind, found in (("rater", parts.raters), ("query", parts.queries), ("grade", parts.grades))
        for part in found
    ]
    rows += [[f"judge {one.judge}, with the people", *_share(one.share)] for one in judges]
    if rows:
        print_table(["the same grade", "share", "90 % interval", "documents"], rows)


def change_settings(store: LabelStore, given: list[str]) -> list[str]:
    """Make settings written as NAME=VALUE, and return them in words."""
    import json

    from rulerank.judging.labels import SETTINGS, check_setting

    read: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in SETTINGS or not value:
            raise DataError(f"--set takes NAME=VALUE with a name of {', '.join(SETTINGS)}: got {text!r}")
        if name == "training_judges":
            read[name] = [one.strip() for one in value.split(",") if one.strip() and value != "none"]
            strangers = [judge for judge in read[name] if judge not in store.judges()]
            if strangers:
                known = ", ".join(store.judges()) or "none"
                raise DataError(f"--set training_judges: {strangers[0]!r} is no judge of this store; there are {known}")
        else:
            try:
                read[name] = json.loads(value)
            except ValueError:
                read[name] = value
        check_setting(name, read[name])
    for name, value in read.items():
        store.change_setting(name, value, COMMAND_LINE, page="terminal")
    return [f"{name} = {json.dumps(value)}" for name, value in read.items()]


def _share(share: Share) -> list[str]:
    if share.value is None:
        return ["", "not known", "0"]
    return [f"{share.value:.2f}", f"{share.low:.2f} to {share.high:.2f}", str(share.n_docs)]


def _grade(grade: int | None) -> str:
    return "cannot judge" if grade is None else str(grade)
