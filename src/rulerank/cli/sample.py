"""rulerank sample: say which documents to label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rulerank.cli.options import (
    AsJson,
    Baseline,
    Docid,
    Qid,
    argument,
    baseline_of,
    columns,
    flag,
    name_and_settings,
    option,
    report_left_out,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.pool import Pool
    from rulerank.judging.sample import Sample
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata

GOOD_START = 100  # labels: ten documents each of ten queries


def sample(
    source: Annotated[str, argument("POOL", "Documents to choose from, - for stdin.")],
    n: Annotated[int, flag("How many documents to choose.", "-n")] = 20,
    labels: Annotated[str | None, option("FILE", "The labels so far: a label store or a file.")] = None,
    own_grades: Annotated[bool, flag("Simulate: the grades in POOL stand in for a person.", "--own-grades")] = False,
    baseline: Baseline = None,
    sampler: Annotated[str, option("NAME[:SETTING=VALUE,...]", "strata (of the baseline), or ssar.")] = "strata",
    out: Annotated[str, option("FILE", "A .csv, .qrels or .txt (LETOR), - for stdout.", "--out", "-o")] = "-",
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """List the documents to label next.

    Documents from all over the baseline ranking (--baseline, a feature or a model) are chosen, one query after the
    other in random order: ten documents each of ten queries, 100 labels, are a good start. Grade them on the page
    (`rulerank judge`) or in the file of -o, and `rulerank train --labels` learns from them. With --own-grades the
    file has the grades, too, so that all of it can be tried without a person.

    --sampler ssar chooses the document that the labels so far say least about, needs no baseline, and stops by itself;
    ssar:partitions=5 is SSARP. In a list each document then counts as if it had the most common grade so far, so that
    it is not all alike.

    Example:

    \b
        rulerank sample pool.csv --baseline bm25_body -n 100 -o to-judge.csv
        rulerank sample train.txt --baseline f1 --own-grades -n 20 -o labels.csv
        rulerank sample train.txt --sampler ssar:partitions=5 -n 5 -o to-judge.qrels
    """
    from rulerank.cli.output import print_json, report
    from rulerank.dataset import warn_if_one_sided
    from rulerank.io.outputs import check_output, write_bytes
    from rulerank.judging.label_files import counted_grades, label_bytes, label_format, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.judging.sample import list_next, simulate, with_known_grades

    check_output(out, [source, labels])
    pool = read_pool(source, **columns(qid, docid))
    if own_grades:
        n_all, (known, counting) = len(pool), counted_grades(pool, None)
        pool, known = with_known_grades(pool, known)
        report_left_out(counting, n_all)
    before = {} if labels is None else read_labels(pool, labels, strict=True)
    chooser = make_sampler(pool, sampler, baseline)
    if own_grades:
        chosen = simulate(pool, chooser, known, labels=before, budget=n)
    else:
        chosen = list_next(pool, chooser, n, labels=before)
    warn_if_one_sided([*before.values(), *(grade for grade in chosen.grades.tolist() if grade >= 0)])
    payload: dict[str, object] = {
        "pool": len(pool),
        "labels": chosen.n_labels,
        "chosen": len(chosen.rows),
        "stop": chosen.stop,
        "closeness": round(chosen.closeness, 4),
        "file": None if out == "-" else out,
    }
    if as_json and out == "-":
        documents = [
            dict(zip(("qid", "docid"), pool.pairs[row], strict=True)) | {"grade": None if grade < 0 else grade}
            for row, grade in zip(chosen.rows.tolist(), chosen.grades.tolist(), strict=True)
        ]
        print_json(payload | {"documents": documents})
        return
    write_bytes(out, label_bytes(pool, chosen.rows, chosen.grades, label_format(out)))
    report(payload, sentence(chosen, pool, before, out, chooser), as_json=as_json, target=out)


def make_sampler(pool: Pool, text: str, baseline: str | None) -> SSAR | Strata:
    """Return the sampler that was asked for."""
    from rulerank.rankers.anchored.baseline import scores_today
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata
    from rulerank.today import Today

    kinds = {"strata": ["seed"], "ssar": ["max_size", "partitions", "per_query", "discretizer", "normalize"]}
    name = text.partition(":")[0].lower()
    if name not in kinds:
        raise DataError(f"unknown sampler {name!r}; choose from {', '.join(kinds)}")
    given = name_and_settings(text, "--sampler", kinds[name])[1]
    if name == "ssar":
        if baseline is not None:
            raise DataError("ssar does without the baseline ranking: leave out --baseline or --sampler ssar")
        return SSAR(**given)
    start = baseline_of(pool.data.feature_names, baseline, "; or let --sampler ssar choose, which does without")
    return Strata(today=start.option if isinstance(start, Today) else scores_today(start, pool.data), **given)


def sentence(chosen: Sample, pool: Pool, before: dict[int, int], out: str, sampler: SSAR | Strata) -> str:
    """Say in a line or two what was chosen and why it ended."""
    from rulerank.core.words import counted
    from rulerank.sampling.strata import Strata

    n_pool, where = len(pool), "" if out == "-" else f"{out}: "
    if chosen.stop == "listed":
        return f"{where}{counted(len(chosen.rows), 'document')} to judge, of {n_pool:,}; {chosen.n_labels:,} labelled"
    if isinstance(sampler, Strata):
        queries = {pool.pairs[row][0] for row in [*chosen.rows.tolist(), *before]}
        labels = f"{counted(chosen.n_labels, 'label')} of {counted(len(queries), 'query', 'queries')}"
        more = "" if chosen.n_labels >= GOOD_START else f"; {GOOD_START} labels are a good start"
        return f"{where}{labels}{more}"
    share = f"{counted(chosen.n_labels, 'label')}, {chosen.n_labels / n_pool:.2%} of {n_pool:,} documents"
    if chosen.stop == "natural":
        return f"{where}{share}; it has stopped by itself: no other document is as new to the labels"
    return f"{where}{share} ({chosen.closeness:.0%} of the way to where it stops by itself)"
