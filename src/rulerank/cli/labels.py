"""rulerank labels: summarise, export and import the labels of a store."""

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
    store: Annotated[str, argument("STORE", "Label store of `rulerank judge`: a file or a URL.")],
    out: Annotated[str | None, option("FILE", "Export labels to a .qrels, .csv or .parquet.", "--out", "-o")] = None,
    combine: Annotated[
        str | None,
        option(
            "HOW",
            "How to combine raters: median, mean, majority, reliability, dawid-skene; none: keep each label.  "
            "[default: setting of the store]",
        ),
    ] = None,
    take: Annotated[str | None, option("FILE", "Import labels from a file.", "--import")] = None,
    rater: Annotated[str | None, option("NAME", "Rater of the imported labels.")] = None,
    kind: Annotated[
        str | None, option("KIND", "Kind of rater: person, llm, clicks, project (older labels) or other.")
    ] = None,
    agreement: Annotated[
        bool | None,
        flag("Print the agreement of raters, with intervals / their disagreements.", "--agreement/--disputes"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Summarise, export or import the labels of a store.

    If several raters judged a document, its grade is the median, unless --combine or the admin page selects another
    rule; the admin's decisions override it. Labels imported with --kind llm, clicks, project or other are from
    non-human raters: training uses them only with `rulerank train --raters NAME`, with separate intercepts. Imports
    csv, tsv, qrels and Quepid's csv.

    Example:
        # how well the raters agree
        rulerank labels judged.db --agreement
        # one grade per document, as TREC qrels
        rulerank labels judged.db -o judged.qrels --combine dawid-skene
        # labels of an LLM
        rulerank labels judged.db --import llm.csv --rater gpt --kind llm
    """
    from rulerank._util.words import counted
    from rulerank.judging.labels import COMBINATIONS, check_combination, check_rater
    from rulerank.judging.store import LabelStore
    from rulerank.judging.transfer import export_labels, import_labels

    asked = {"--agreement or --disputes": agreement is not None, "--import": take, "-o": out}
    chosen = [name for name, given in asked.items() if given]
    if len(chosen) > 1:
        raise DataError(f"give only one of these options: {', '.join(chosen)}")
    if bool(take) != (rater is not None) or (kind is not None and not take):
        raise DataError("--import needs --rater NAME, the rater of the labels; --rater and --kind need --import")
    if combine is not None and not out:
        raise DataError("--combine applies to an export: add -o FILE")
    if not take and "://" not in store and not Path(store).exists():
        raise DataError(f"{store}: label store not found")
    with LabelStore(store) as kept:
        if take and rater is not None:
            n_labels = import_labels(kept, take, check_rater(rater), kind=kind)
            report({"imported": n_labels}, f"{kept.name}: {counted(n_labels, 'new label')}", as_json=as_json)
        elif out:
            each = combine == "none"
            how = check_combination(kept.settings().combine if each or combine is None else combine)
            done = export_labels(kept, out, per_rater=each, combine_by=how)
            payload = {"rows": done.rows, "format": done.target} | ({} if each else {"combined": how})
            rule = "" if each else f"; several raters: {COMBINATIONS[how]}"
            report(payload, f"{out}: {done}{rule}", as_json=as_json, target=out)
        elif agreement is not None:
            (print_agreement if agreement else print_disputes)(kept, as_json=as_json)
        else:
            print_counts(kept, as_json=as_json)


def print_counts(store: LabelStore, *, as_json: bool) -> None:
    """Print the numbers of labels and how they are combined."""
    from rulerank._util.words import counted
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
    payload |= {"decisions": len(counting.decided), "other_raters": dict(counting.other_raters), "undecided": undecided}
    payload["settings"] = counting.settings.to_dict()
    text = f"{store.name}: {', '.join(counted(n, noun) for noun, n in counts.items())}"
    if counting.decided:
        text += f", {counted(len(counting.decided), 'decision')}"
    if counts["rater"] > 1 or counting.decided:
        text += f"\n{counting.sentence()}"
    if undecided:
        text += f"\n{counted(undecided, 'document')} without a grade until the admin decides (--disputes)."
    report(payload, text, as_json=as_json)


def print_disputes(store: LabelStore, *, as_json: bool) -> None:
    """Print the documents on which human raters disagree, the largest first, then those of other raters."""
    from rulerank.judging.agreement import disputes
    from rulerank.judging.grades import Counting

    counting, labels = Counting.now(store), store.labels()
    said = {(label.query, label.doc, label.rater): label for label in labels}
    given: dict[tuple[str, str], dict[str, int | None]] = {}
    for label in labels:
        given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
    found = disputes(given, counting.other_raters)
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
        print(f"{store.name}: raters agree on all documents that several have graded")
    else:
        rows = []
        for one in found:
            grades = ", ".join(f"{rater} {grade}" for rater, grade in sorted(one.grades.items()))
            decision = counting.decided.get(one.doc, "")
            rows.append([*one.doc, grades, str(one.spread), "cannot judge" if decision is None else str(decision)])
        print_table(["query", "document", "grades", "apart", "decided"], rows, n_left=3)


def print_agreement(store: LabelStore, *, as_json: bool) -> None:
    """Print how well human raters agree, and other raters with them, with intervals."""
    from rulerank.judging.agreement import agreement_parts, krippendorff_alpha, rater_agreement
    from rulerank.judging.grades import Counting, grades_of
    from rulerank.judging.llm_raters import COLUMNS, rows_of_rater

    counting, labels = Counting.now(store), store.labels()
    raters, by_grade = agreement_parts(label for label in labels if label.rater not in counting.other_raters)
    alpha = krippendorff_alpha(by.values() for by in counting.people(labels).values())
    by_rater, grades = grades_of(labels, sorted(counting.other_raters)), counting.grades(labels)
    others = [rater_agreement(name, given, grades) for name, given in by_rater.items()]
    tables = {name: rows_of_rater(given, grades) for name, given in by_rater.items() if given.keys() & grades.keys()}
    if as_json:
        parts = {"raters": raters, "grades": by_grade}
        plain = {what: {name: share.to_dict() for name, share in found.items()} for what, found in parts.items()}
        print_json({"people": alpha.to_dict(), **plain, "other_raters": [one.to_dict() for one in others]})
        return
    sure = alpha.reason or f"90 % interval {alpha.low:.2f} to {alpha.high:.2f}"
    known = alpha.reason if alpha.value is None else f"{alpha.value:.2f} ({sure})"
    print(f"Krippendorff's alpha of the human raters: {known}")
    rows = [
        [f"{what} {name}", *_share(share)]
        for what, shares in (("rater", raters), ("grade", by_grade))
        for name, share in shares.items()
    ]
    rows += [[f"{one.rater}, with the human raters", *_share(one.share)] for one in others]
    if rows:
        print_table(["same grade", "share", "90 % interval", "documents"], rows)
    for name, found in tables.items():
        print(f"\nAgreement of {name} with people; `rulerank evaluate --llm-labels` adds ranks and systems")
        print_table(COLUMNS, [row.cells() for row in found])


def _share(share: Share) -> list[str]:
    if share.value is None:
        return ["", "unknown", "0"]
    return [f"{share.value:.2f}", f"{share.low:.2f} to {share.high:.2f}", str(share.n_docs)]
