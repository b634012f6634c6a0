"""rulerank sample: choose documents to label."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from rulerank.cli import options as cli
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.pool import Pool
    from rulerank.judging.sample import Sample
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import StratifiedSampler

GOOD_START = 100  # labels: ten documents each of ten queries


def sample(
    source: Annotated[str, cli.argument("POOL", "Documents to choose from, - for stdin.")],
    n: Annotated[int, cli.option("N", "Number of documents to choose.", "-n")] = 20,
    labels: Annotated[str | None, cli.option("FILE", "Labels so far: a label store or a file.")] = None,
    own_grades: Annotated[bool, cli.flag("Simulate: use the grades in POOL as labels.", "--own-grades")] = False,
    baseline: cli.BaselineOption = None,
    sampler: Annotated[
        str, cli.option("NAME[:SETTING=VALUE,...]", "strata (of the baseline ranking) or ssar.")
    ] = "strata",
    for_comparison: Annotated[
        str | None,
        cli.option("RANKING", "Sample to compare this ranking (feature, model, run, scores) with the baseline."),
    ] = None,
    out: Annotated[str, cli.option("FILE", "A .csv, .qrels or .txt (LETOR), - for stdout.", "--out", "-o")] = "-",
    qid: cli.Qid = None,
    docid: cli.Docid = None,
    as_json: cli.AsJson = False,
) -> None:
    """Choose the documents to label next.

    Samples documents from the whole baseline ranking, one query after the other in random order. 100 labels, ten
    documents each for ten queries, are a good start. Grade them on the page (`rulerank judge`) or in the output file,
    then train with `rulerank train --labels`. With --own-grades, the grades of POOL are
    the labels, which simulates raters.

    --sampler ssar chooses the document that the labels so far cover least, needs no baseline, and decides when to stop;
    ssar:partitions=5 is SSARP. With -n above 1, a
    chosen document is assumed to have the most common grade so far while the next is chosen; no grade is written.

    --for-comparison chooses one document each of N random queries, among those whose grades decide which of two
    rankings is better, and writes how likely each was, for `rulerank evaluate --llm-labels`. To add documents, repeat
    it with a larger N and --labels.

    Example:
        # 100 documents to grade in a spreadsheet
        rulerank sample pool.csv --baseline bm25_body -n 100 -o to-judge.csv
        # simulate raters with the grades of the data
        rulerank sample train.txt --baseline f1 --own-grades -n 20 -o labels.csv
        # without a baseline
        rulerank sample train.txt --sampler ssar:partitions=5 -n 5 -o to-judge.csv
        # one document per query, to compare two rankings
        rulerank sample test.csv --for-comparison two.run --baseline bm25_body -n 100 -o to-judge.csv
    """
    from rulerank.cli.output import print_json, print_table, report
    from rulerank.dataset import warn_if_one_sided
    from rulerank.io.files import check_output, write_bytes
    from rulerank.judging.label_files import counted_grades, label_bytes, label_format, read_labels
    from rulerank.judging.pool import read_pool
    from rulerank.judging.sample import choose, with_known_grades

    check_output(out, [source, labels])
    pool, known = read_pool(source, **cli.columns(qid, docid)), None
    if own_grades:
        n_all, (graded, counting) = len(pool), counted_grades(pool, None)
        pool, known = with_known_grades(pool, graded)
        cli.report_left_out(counting, n_all)
    before = {} if labels is None else read_labels(pool, labels, strict=True)
    if for_comparison is not None:
        to_compare(pool, for_comparison, baseline, sampler, n, before | (known or {}), out, as_json=as_json)
        return
    chooser = make_sampler(pool, sampler, baseline)
    chosen = choose(pool, chooser, n, labels=before, grades=known)
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
    if out == "-" and sys.stdout.isatty():
        print_table(["query", "document", "grade"], readable_rows(pool, chosen), n_left=2)
    else:
        write_bytes(out, label_bytes(pool, chosen.rows, chosen.grades, label_format(out)))
    report(payload, sentence(chosen, pool, before, out, chooser), as_json=as_json, target=out)


def to_compare(
    pool: Pool, new: str, baseline: str | None, sampler: str, n: int, known: dict[int, int], out: str, *, as_json: bool
) -> None:
    """Choose one document each of n random queries; write it with its probability."""
    import numpy as np

    from rulerank._util.words import counted
    from rulerank.cli.output import report
    from rulerank.evaluation.llm_labels import sample_for_comparison
    from rulerank.io.files import write_bytes
    from rulerank.judging.label_files import label_bytes, label_format

    if label_format(out) != "csv":
        raise DataError(f"a sample for a comparison has probabilities, which only csv can hold: got -o {out}")
    name, given = cli.name_and_settings(sampler, "--sampler", ["seed"])
    if name != "strata":
        raise DataError("--for-comparison samples in its own way: leave out --sampler, or set strata:seed=N")
    start = cli.baseline_of(pool.data.feature_names, baseline)
    scores = {new: cli.scores_of(pool.data, new, pool.name), start.text: start.scores(pool.data)}
    rows, chance = sample_for_comparison(scores, pool.data.qid, n, **given)
    grades = np.array([known.get(row, -1) for row in rows.tolist()])
    write_bytes(out, label_bytes(pool, rows, grades, "csv", chance[rows]))
    n_known = int((grades >= 0).sum())
    payload = {"pool": len(pool), "chosen": len(rows), "labels": n_known, "file": None if out == "-" else out}
    where, fewer = "" if out == "-" else f"{out}: ", f" ({n:,} asked for: in the others the top 10 is the same)"
    text = (
        f"{where}{counted(len(rows), 'document')}, one per query{fewer if len(rows) < n else ''}; {n_known:,} labelled"
    )
    report(payload, text, as_json=as_json, target=out)


def readable_rows(pool: Pool, chosen: Sample) -> list[list[str]]:
    """Return the chosen documents for a terminal: query, title or id, and the grade if it is known."""
    rows = []
    for row, grade in zip(chosen.rows.tolist(), chosen.grades.tolist(), strict=True):
        shown = pool.shown(row)
        query = shown.get("query_text") or pool.pairs[row][0]
        rows.append([query, shown.get("title") or pool.names[row], "" if grade < 0 else str(grade)])
    return rows


def make_sampler(pool: Pool, text: str, baseline: str | None) -> SSAR | StratifiedSampler:
    """Return the sampler that was asked for."""
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import StratifiedSampler

    kinds = {"strata": ["seed"], "ssar": ["max_size", "partitions", "per_query", "discretizer", "normalize"]}
    name = text.partition(":")[0].lower()
    if name not in kinds:
        raise DataError(f"unknown sampler {name!r}; choose from {', '.join(kinds)}")
    given = cli.name_and_settings(text, "--sampler", kinds[name])[1]
    if name == "ssar":
        if baseline is not None:
            raise DataError("ssar does not use a baseline ranking: leave out --baseline or --sampler ssar")
        return SSAR(**given)
    start = cli.baseline_of(pool.data.feature_names, baseline, "; or use --sampler ssar, which needs none")
    return StratifiedSampler(baseline=start, **given)


def sentence(chosen: Sample, pool: Pool, before: dict[int, int], out: str, sampler: SSAR | StratifiedSampler) -> str:
    """Return what was chosen and why sampling ended, in words."""
    from rulerank._util.words import counted
    from rulerank.sampling.strata import StratifiedSampler

    n_pool, where = len(pool), "" if out == "-" else f"{out}: "
    if chosen.stop == "listed":
        return f"{where}{counted(len(chosen.rows), 'document')} to judge, of {n_pool:,}; {chosen.n_labels:,} labelled"
    if isinstance(sampler, StratifiedSampler):
        queries = {pool.pairs[row][0] for row in [*chosen.rows.tolist(), *before]}
        labels = f"{counted(chosen.n_labels, 'label')} of {counted(len(queries), 'query', 'queries')}"
        more = "" if chosen.n_labels >= GOOD_START else f"; {GOOD_START} labels are a good start"
        return f"{where}{labels}{more}"
    share = f"{counted(chosen.n_labels, 'label')}, {chosen.n_labels / n_pool:.2%} of {n_pool:,} documents"
    if chosen.stop == "natural":
        return f"{where}{share}; the sampler has stopped: the labels cover all other documents"
    return f"{where}{share} ({chosen.closeness:.0%} of the way to the stopping point)"
