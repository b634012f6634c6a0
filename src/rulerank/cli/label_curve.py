"""rulerank label-curve: how good a ranker is after so many labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rulerank.cli.options import AsJson, Baseline, argument, baseline_feature, option
from rulerank.errors import DataError

NO_MODEL = (
    "a curve is measured on grades that a model may have learned from, and then starts too well: name a feature; "
    "a model that never saw these queries may be one, with its scores as a column (rulerank rank DATA MODEL -o new.csv)"
)


def label_curve(
    source: Annotated[str, argument("DATA", "Graded documents, or a folder of LETOR folds.")],
    out: Annotated[list[str] | None, option("FILE", "A .png, .svg, .pdf or .csv; repeat it.", "--out", "-o")] = None,
    method: Annotated[list[str] | None, option("NAME", "A method, or from-today; repeat it [five of them].")] = None,
    sampler: Annotated[list[str] | None, option("NAME", "strata, SSAR, SSARP, random, ...; repeat it [all].")] = None,
    sizes: Annotated[str | None, option("N,N,...", "Numbers of labels [20,50,100,200,400].")] = None,
    splits: Annotated[int, option("N", "How often queries are split into halves, to label and test on.")] = 20,
    baseline: Baseline = None,
    measure: Annotated[str, option("NAME", "MAP, NDCG@10, ...", "--measure", "-m")] = "NDCG@10",
    as_json: AsJson = False,
) -> None:
    """Show what so many labels gain over the baseline ranking.

    Simulates labelling with grades that are known: half of the queries are labelled, from the baseline ranking on, and
    the other half are tested on, many times over. For every way to choose and every learner it shows what was gained
    over the baseline on average and in the worst split. Ctrl-C shows the splits done so far.

    Example:

    \b
        rulerank label-curve train.txt --baseline f1 --splits 3 --sizes 10,20 --method from-today -o gains.png
        rulerank label-curve train.txt --baseline f1 --splits 3 --sizes 10 --sampler strata -o gains.csv --json
    """
    from rulerank.cli.output import PICTURES, ending_of, print_json, print_table
    from rulerank.dataset import Dataset
    from rulerank.evaluation import Measure
    from rulerank.experiment.label_curve import RANKERS, label_curve, label_curve_figure
    from rulerank.io.folds import read_folds, read_graded
    from rulerank.io.outputs import check_directory_of, write_bytes
    from rulerank.render.figures import check_matplotlib, figure_bytes

    for target in out or []:
        if ending_of(target, (*PICTURES, ".csv")) != ".csv":
            check_matplotlib()
        check_directory_of(target, [source])
    try:
        wanted = None if sizes is None else [int(word) for word in sizes.split(",")]
    except ValueError:
        raise DataError(f"--sizes takes whole numbers, such as 50,100,200: got {sizes!r}") from None
    if Path(source).is_dir():  # every query is in one of the test parts
        data = Dataset.concat([fold.test for fold in read_folds(source)])
    else:
        data = read_graded(source, None)
    start = baseline_feature(data.feature_names, baseline, NO_MODEL)
    if start is None:
        raise DataError("which feature ranks the documents now? Gains are over the baseline: say --baseline FEATURE")
    names = method or RANKERS
    label = str(Measure.parse(measure))
    curve = label_curve(data, names, sampler, sizes=wanted, n_splits=splits, today=start.option, measure=label)
    for target in out or []:
        ending = Path(target).suffix.lower()
        drawn = ending in PICTURES
        write_bytes(target, figure_bytes(label_curve_figure(curve), ending) if drawn else curve.to_csv().encode())
    if as_json:
        print_json(curve.to_dict())
        return
    print_table(*curve.table(), n_left=2)
    print(curve.note)
    for target in out or []:
        print(f"{target}: {'curve' if target.lower().endswith(PICTURES) else f'{len(curve.points)} points'}")
