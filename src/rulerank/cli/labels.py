"""rulerank labels: what a label store holds, into a file and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rulerank.cli.options import AsJson, argument, flag, option
from rulerank.cli.output import print_json, print_table, report
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.agreement import Share
    from rulerank.judging.store import LabelStore


def labels(
    store: Annotated[str, argument("STORE", "The labels of `rulerank judge`: a file or a URL.")],
    out: Annotated[str | None, option("FILE", "Write labels to a .qrels, .csv or .parquet.", "--out", "-o")] = None,
    combine: Annotated[str | None, option("HOW", "median, mean, majority, reliability, ...; none: each label.")] = None,
    take: Annotated[str | None, option("FILE", "Take labels in from a file.", "--import")] = None,
    rater: Annotated[str | None, option("NAME", "Whose labels --import takes in.")] = None,
    kind: Annotated[str | None, option("KIND", "That rater is a person, llm, clicks, project, other.")] = None,
    disputes: Annotated[bool, flag("List what raters disagree on, the largest first.", "--disputes")] = False,
    agreement: Annotated[bool, flag("Say how well raters agree, with intervals.", "--agreement")] = False,
    as_json: AsJson = False,
) -> None:
    """Count, write or take in the labels of a store.

    A document judged by several has the median of their grades, or what --combine or the admin page says; what the
    admin has decided counts first. Labels taken in with --kind llm, clicks, project or other are no people's: they
    count in training only with `rulerank train --raters NAME`, with intercepts of their own. Quepid's csv is read, and
    csv, tsv and qrels.

    Example:
        rulerank labels judged.db
        rulerank labels judged.db -o judged.qrels --combine dawid-skene
        rulerank labels judged.db -o labels.csv --combine none
        rulerank labels judged.db --import llm.csv --rater gpt --kind llm
        rulerank labels judged.db --disputes
        rulerank labels judged.db --agreement
    """
    from rulerank.core.words import counted
    from rulerank.judging.labels import COMBINATIONS, check_combination, check_rater
    from rulerank.judging.store import LabelStore
    from rulerank.judging.transfer import export_labels, import_labels

    asked = {"--disputes": disputes, "--agreement": agreement, "--import": take, "-o": out}
    chosen = [name for name, given in asked.items() if given]
    if len(chosen) > 1:
        raise DataError(f"one thing at a time: got {', '.join(chosen)}")
    if bool(take) != (rater is not None) or (kind is not None and not take):
        raise DataError("--import takes labels in and needs --rater: whose they are; --kind says what that rater is")
    if combine is not None and not out:
        raise DataError("--combine says how several labels become one in the file of -o: name it, too")
    if not take and "://" not in store and not Path(store).exists():
        raise DataError(f"{store}: there is no such label store")
    with LabelStore(store) as kept:
        if take and rater is not None:
            n_labels = import_labels(kept, take, check_rater(rater), kind=kind)
            report({"imported": n_labels}, f"{kept.name}: {counted(n_labels, 'new label')}", as_json=as_json)
        elif out:
            each = combine == "none"
            how = check_combination(kept.settings().combine if each or combine is None else combine)
            done = export_labels(kept, out, per_rater=each, combine_by=how)
            payload = {"rows": done.rows, "format": done.target} | ({} if each else {"combined": how})
            said = "" if each else f"; of several raters {COMBINATIONS[how]}"
            report(payload, f"{out}: {done}{said}", as_json=as_json, target=out)
        elif disputes:
            print_disputes(kept, as_json=as_json)
        elif agreement:
            print_agreement(kept, as_json=as_json)
        else:
            print_counts(kept, as_json=as_json)


def print_counts(store: LabelStore, *, as_json: bool) -> None:
    """Print how many labels there are, and how they count."""
    from rulerank.core.words import counted
    from rulerank.dataset import warn_if_one_sided
    from rulerank.judging.grades import Counting

    labels, counting = store.labels(), Counting.now(store)
    grades = counting.grades(labels)
    warn_if_one_sided(grades.values())
    counts = {
        "label": len(labels),
        "document": len({(label.query, label.doc) for label in labels}),
        "rater": len({label.rater for label in labels}),
    }
    graded = {doc for doc, by in counting.people(labels).items() if any(grade is not None for grade in by.values())}
    undecided = len(graded - grades.keys() - counting.decided.keys())
    payload: dict[str, object] = {f"{noun}s": n for noun, n in counts.items()}
    payload |= {"decisions": len(counting.decided), "judges": dict(counting.judges), "undecided": undecided}
    payload["settings"] = counting.settings.to_dict()
    text = f"{store.name}: {', '.join(counted(n, noun) for noun, n in counts.items())}"
    if counting.decided:
        text += f", {counted(len(counting.decided), 'decision')}"
    if counts["rater"] > 1 or counting.decided:
        text += f"\n{counting.sentence()}"
    if undecided:
        text += f"\n{counted(undecided, 'document')} without a grade until decided (--disputes)."
    report(payload, text, as_json=as_json)


def print_disputes(store: LabelStore, *, as_json: bool) -> None:
    """Print the documents on which people disagree, the largest dispute first, and then those of other raters."""
    from rulerank.judging.agreement import disputes
    from rulerank.judging.grades import Counting

    counting, labels = Counting.now(store), store.labels()
    said = {(label.query, label.doc, label.rater): label for label in labels}
    given: dict[tuple[str, str], dict[str, int | None]] = {}
    for label in labels:
        given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
    found = disputes(given, counting.judges)
    if as_json:
        listed = [
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
        print_json({"disputes": listed})
    elif not found:
        print(f"{store.name}: no two raters disagree on a document that people have graded")
    else:
        rows = []
        for one in found:
            grades = ", ".join(f"{rater} {grade}" for rater, grade in sorted(one.grades.items()))
            decision = counting.decided.get(one.doc, "")
            rows.append([*one.doc, grades, str(one.spread), "cannot judge" if decision is None else str(decision)])
        print_table(["query", "document", "grades", "apart", "decided"], rows, n_left=3)


def print_agreement(store: LabelStore, *, as_json: bool) -> None:
    """Print how well people agree, and other raters with them, each with its interval."""
    from rulerank.judging.agreement import agreement_parts, judge_agreement, krippendorff_alpha
    from rulerank.judging.grades import Counting, grades_of

    counting, labels = Counting.now(store), store.labels()
    people = [label for label in labels if label.rater not in counting.judges]
    parts, grades = agreement_parts(people), counting.grades(labels)
    given = [[grade for grade in by.values() if grade is not None] for by in counting.people(labels).values()]
    alpha = krippendorff_alpha(given)
    by_rater = grades_of(labels, sorted(counting.judges))
    others = [judge_agreement(name, given, grades) for name, given in by_rater.items()]
    if as_json:
        print_json({"people": alpha.to_dict(), **parts.to_dict(), "judges": [one.to_dict() for one in others]})
        return
    sure = alpha.reason or f"90 % interval {alpha.low:.2f} to {alpha.high:.2f}"
    known = alpha.reason if alpha.value is None else f"{alpha.value:.2f} ({sure})"
    print(f"Krippendorff's alpha of the people: {known}")
    rows = [
        [f"{what} {part.name}", *_share(part.share)]
        for what, several in (("rater", parts.raters), ("query", parts.queries), ("grade", parts.grades))
        for part in several
    ]
    rows += [[f"{one.judge}, with the people", *_share(one.share)] for one in others]
    if rows:
        print_table(["the same grade", "share", "90 % interval", "documents"], rows)


def _share(share: Share) -> list[str]:
    if share.value is None:
        return ["", "not known", "0"]
    return [f"{share.value:.2f}", f"{share.low:.2f} to {share.high:.2f}", str(share.n_docs)]
