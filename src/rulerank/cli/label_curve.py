"""rulerank label-curve: quality of rankers by number of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rulerank.cli.options import AsJson, argument, baseline_of, baseline_option, option
from rulerank.errors import DataError

NO_MODEL = (
    "a model may have learned from the grades that the curve is measured on: name a feature; or, for a model that "
    "never saw these queries, a run of it (rulerank rank DATA MODEL -o new.run)"
)


def label_curve(
    source: Annotated[str, argument("DATA", "Graded documents, or a folder of LETOR folds.")],
    out: Annotated[str | None, option("FILE", "Also write a .csv, one line per point.", "--out", "-o")] = None,
    method: Annotated[
        list[str] | None,
        option(
            "NAME",
            "Method, or from-baseline; repeatable.  "
            "[default: from-baseline, QueryIntercepts, GlobalRules and FittedRules]",
        ),
    ] = None,
    sampler: Annotated[
        list[str] | None, option("NAME", "strata, SSAR, SSARP, random, ...; repeatable.  [default: all]")
    ] = None,
    sizes: Annotated[str | None, option("N,N,...", "Numbers of labels.  [default: 20,50,100,200,400]")] = None,
    splits: Annotated[int, option("N", "Number of random splits of the queries into a labelled and a test half.")] = 20,
    baseline: Annotated[str | None, baseline_option(", a sum of features or a run")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate the gain over the baseline by number of labels.

    Simulates labelling with known grades: half of the queries are labelled, the other half is the test set, in many
    random splits. Prints the gain in NDCG@10 over the baseline ranking for every sampler and method: the mean and the
    worst split. Ctrl-C prints the splits done so far.

    Example:
        # one method
        rulerank label-curve train.txt --baseline f1 --splits 3 --sizes 10,20 --method from-baseline
        # one sampler, also as a file
        rulerank label-curve train.txt --baseline f1 --splits 3 --sizes 10 --sampler strata -o gains.csv
    """
    from rulerank.baseline import ModelBaseline
    from rulerank.cli.output import ending_of, print_json, print_table
    from rulerank.dataset import Dataset
    from rulerank.experiment.curve import RANKERS, label_curve
    from rulerank.io.files import check_directory_of, write_text
    from rulerank.io.formats import read_folds, read_graded

    if out is not None:
        ending_of(out, (".csv",))
        check_directory_of(out, [source])
    try:
        wanted = None if sizes is None else [int(word) for word in sizes.split(",")]
    except ValueError:
        raise DataError(f"--sizes takes whole numbers, such as 50,100,200: got {sizes!r}") from None
    if Path(source).is_dir():  # the test parts together hold every query once
        data = Dataset.concat([fold.test for fold in read_folds(source)])
    else:
        data = read_graded(source, None)
    start = baseline_of(data.feature_names, baseline)
    if isinstance(start, ModelBaseline):
        raise DataError(f"--baseline {baseline}: {NO_MODEL}")
    names = method or RANKERS
    curve = label_curve(data, names, sampler, sizes=wanted, n_splits=splits, baseline=start)
    if out is not None:
        write_text(out, curve.to_csv())
    if as_json:
        print_json(curve.to_dict())
        return
    print_table(*curve.table(), n_left=2)
    print(curve.note)
    if out is not None:
        print(f"{out}: {len(curve.points)} points")
