"""rulerank train: train a ranker on grades, few labels or clicks."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from rulerank.cli.options import (
    AsJson,
    BaselineOption,
    Docid,
    Features,
    Grade,
    Qid,
    argument,
    baseline_of,
    columns,
    flag,
    name_and_settings,
    option,
    report_left_out,
    settings,
)
from rulerank.errors import DataError, TooLargeError
from rulerank.methods import FROM_BASELINE, method_named

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.rankers.base import Ranker
    from rulerank.selection import Selection

BY_RATER = "QueryIntercepts"  # the method with an intercept per rater
HIDDEN = ("n_jobs", "memory_budget", "keep_rows")  # parameters without effect on the scores
WITHOUT = "; or use a method that needs none, such as --method QueryIntercepts"
OF_CLICKS = ("document_spread",)  # parameters without effect on grades
MANY = 1000  # labels: enough for any method, even if most have grade 0
MEMORY = 1024  # MiB of a folder's data at once
UNTUNED: dict[str, dict[str, Any]] = {"QueryIntercepts": {"l2": 100.0}}  # better than the paper's 0 on every set


def train(
    sources: Annotated[
        list[str], argument("DATA...", "Graded documents, - for stdin; several files; or a folder or pattern of files.")
    ],
    out: Annotated[str, option("FILE", "Model file to write; replaces an older model.", "--out", "-o")],
    method: Annotated[
        str | None,
        option("NAME", "One of `rulerank methods`.  [default: selected by cross-validation; with --labels Anchored]"),
    ] = None,
    given: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Parameter of the method, see `rulerank methods NAME`; repeatable.", "--set"),
    ] = None,
    tune: Annotated[bool, flag("Tune the other parameters by cross-validation.", "--tune")] = False,
    exportable: Annotated[bool, flag("Train only models that `rulerank export` can export.", "--exportable")] = False,
    labels: Annotated[str | None, option("FILE", "Grades of some documents: label store, csv, qrels or LETOR.")] = None,
    raters: Annotated[
        list[str] | None, option("NAME", "Also use this non-human rater (LLM, clicks) of --labels; repeatable.")
    ] = None,
    baseline: BaselineOption = None,
    unjudged: Annotated[
        str | None,
        option(
            "0|skip", "Unjudged documents: not relevant (0) or left out (skip).  [default: as recorded in the data]"
        ),
    ] = None,
    qid: Qid = None,
    docid: Docid = None,
    grade: Grade = None,
    features: Features = None,
    as_json: AsJson = False,
) -> None:
    """Train a ranker and save it to a file.

    Selects the method by cross-validation by query unless --method names one, and prints which and why. Prefers
    models on raw feature values, which can be exported, to models on per-query z-scores unless those are clearly
    better; --exportable never uses z-scores.

    Data in a folder (or a quoted pattern such as 'data/*.parquet') may be larger than memory. Each file must have
    whole queries.

    With --labels (few labels), the model starts from the baseline ranking (--baseline) and changes it only where the
    labels support the change. `rulerank check` tests the gain.

    If the table has click columns (`rulerank clicks`), trains from clicks with position-bias correction. Keeps the
    baseline ranking unless the clicks of held-out queries show that the new one is better. --labels then
    refine the click model or the baseline, whichever is better.

    Example:
        # select the method by cross-validation
        rulerank train train.txt -o model.rulerank
        # one method, with parameters
        rulerank train train.txt -o model.rulerank --method GlobalRules --set votes=mean --set drop_weakest=0
        # few labels, starting from a baseline ranking
        rulerank train pool.csv --labels graded.csv --baseline bm25_body -o model.rulerank
    """
    from rulerank.io.files import is_many
    from rulerank.model_file import check_overwrite, check_target, is_model_file
    from rulerank.recall_base import check_unjudged
    from rulerank.selection.select import check_exportable

    if out == "-":
        raise DataError("a model cannot be written to stdout: name a file, such as -o model.rulerank")
    check_target(out)
    check_unjudged(unjudged)
    others = [name for name in (labels, baseline) if name is not None and (name == labels or is_model_file(name))]
    check_overwrite(out, sources + others)
    name, of_name = name_and_settings(method, "--method") if method is not None else (None, {})
    params = of_name | settings(given)
    if name is None and params and (labels is not None or set(params) != {"monotone"}):
        chosen = f"--set {next(iter(params))}"
        raise DataError(f"{chosen} needs a method: name it, such as --method GlobalRules {chosen}=...")
    if [*sources, labels].count("-") > 1:
        raise DataError("only one input can be stdin: - is given twice")
    if raters and (labels is None or baseline is not None):
        raise DataError("--raters names non-human raters in --labels: add --labels, and leave out --baseline")
    asked = Asked(
        sources=[*sources, *([] if labels is None else [labels])],
        out=out,
        method=None if name is None else method_named(name).class_name,
        params=params,
        columns=columns(qid, docid, grade, features),
        tune=tune,
        exportable=exportable,
        raters=raters or [],
        baseline=baseline,
        unjudged=unjudged,
    )
    if labels is not None and asked.tune:
        raise DataError("--labels is for few labels, too few for tuning: leave out --tune")
    if labels is not None and len(sources) > 1:
        raise DataError(f"--labels grades the documents of one file: got {', '.join(sources)}")
    start = perf_counter()
    if any(map(is_many, sources)):
        trained = from_parts(asked)
    elif labels is not None:
        trained = from_labels(asked, labels)
    else:
        trained = from_data(asked)
    seconds = perf_counter() - start
    if exportable:
        check_exportable(trained.ranker)
    trained.ranker.save(out)
    trained.say(asked, seconds, as_json=as_json)


@dataclass(frozen=True)
class Asked:
    """The options of `rulerank train`, parsed."""

    sources: list[str]
    out: str
    method: str | None  # None: select one
    params: dict[str, Any]
    columns: dict[str, Any]
    tune: bool
    exportable: bool
    raters: list[str]
    baseline: str | None
    unjudged: str | None

    @property
    def anchored(self) -> bool:
        """Whether the given method starts from the baseline."""
        return self.method in FROM_BASELINE

    def baseline_option(self, data: Dataset) -> Any:
        """Return the baseline of data with clicks, as `select` takes it; None if there is none."""
        from rulerank.baseline import suggest_baseline

        if self.baseline is None and suggest_baseline(data.feature_names) is None:
            return None
        return baseline_of(data.feature_names, self.baseline).option


@dataclass(frozen=True)
class Trained:
    """A ranker, its training data, and how it was selected."""

    ranker: Ranker
    about: str  # the training data, in words
    facts: dict[str, Any]  # the same, as plain values
    feature_names: tuple[str, ...]
    selections: dict[str, Selection] = field(default_factory=dict)  # "chosen", "tuning", "few_labels", "clicks"

    def say(self, asked: Asked, seconds: float, *, as_json: bool) -> None:
        """Print the model and its training data."""
        from rulerank._util.words import counted, listed
        from rulerank.cli.output import print_json
        from rulerank.export.form import why_not_exportable

        params, n_rules, kind = used_params(self.ranker), count_rules(self.ranker), type(self.ranker).__name__
        why_not = why_not_exportable(self.ranker)
        if as_json:
            payload = {"model": asked.out, "method": kind, "trained_on": asked.sources, **self.facts}
            payload |= {"features": len(self.feature_names), "feature_names": self.feature_names, "params": params}
            found = {
                name: one.facts if name == "few_labels" else one.to_dict() for name, one in self.selections.items()
            }
            if "few_labels" in found.get("few_labels", {}):  # with clicks before them
                found = dict(found["few_labels"])
            payload |= {"exportable": why_not is None, "rules": n_rules, "seconds": round(seconds, 3)}
            print_json(payload | found)
            return
        print(f"trained on {' and '.join(asked.sources)}: {self.about}")
        print(f"features: {listed(self.feature_names)}")
        if "chosen" in self.selections:
            print(f"selected method: {self.selections['chosen'].reason}")
        if "tuning" in self.selections:
            tuned = self.selections["tuning"]
            print(f"\ntuned by {tuned.measure} in cross-validation by query, best first\n\n{tuned}\n")
        named = {name: value for name, value in params.items() if name not in OF_CLICKS or "clicks" in self.selections}
        words = [f"{name} {'none' if value is None else value}" for name, value in named.items()]
        print(f"{kind}: {', '.join(words)}")
        rules = "" if n_rules is None else f"{counted(n_rules, 'rule')}, "
        kept = self.facts.get("saved") == "baseline"
        how = "the unchanged baseline ranking is saved, not the new one" if kept else f"trained in {seconds:.1f} s"
        print(f"{asked.out}: {rules}{how}")
        print("can be exported" if why_not is None else f"cannot be exported: {why_not} (--exportable avoids this)")
        for name in ("few_labels", "clicks"):
            if name in self.selections:
                print(self.selections[name].reason)


def from_data(asked: Asked) -> Trained:
    """Train on graded documents, or on clicks if the data has them."""
    from rulerank.io.formats import read_together

    read = read_together(asked.sources, asked.columns)
    if read.impressions is not None:
        return from_clicks(asked, read)
    counting = read.counted_rows(asked.unjudged)
    data = read.counted(counting)
    if not len(data):
        names = " and ".join(asked.sources)
        raise DataError(f"{names}: no document has a grade to learn from")
    report_left_out(counting, len(read), count_all="--unjudged 0")
    return from_grades(asked, data, {"rows": len(data), "left_out": len(read) - len(data)})


def from_grades(asked: Asked, data: Dataset, facts: dict[str, Any]) -> Trained:
    """Train on graded documents; may select the method or its parameters."""
    from rulerank._util.estimator import clone
    from rulerank.dataset import check_contrast, query_index
    from rulerank.selection.select import default_grid, default_rankers, select

    if asked.baseline is not None and not asked.anchored:
        few = FROM_BASELINE[0]
        raise DataError(f"--baseline is only used by {few}: leave it out, or add --labels or --method {few}")
    check_contrast(data.y, query_index(data.qid)[0])
    selections: dict[str, Selection] = {}
    if asked.method is None:
        fitting = {
            about: one for about, one in default_rankers().items() if asked.params.keys() <= one.get_params().keys()
        }
        rankers = {about: one.set_params(**asked.params) for about, one in fitting.items()}
        selections["chosen"] = select(data, rankers, exportable=asked.exportable)
        ranker = selections["chosen"].ranker
    else:
        params = UNTUNED.get(asked.method, {}) | asked.params
        if asked.anchored and "baseline" not in params:
            params["baseline"] = baseline_of(data.feature_names, asked.baseline, WITHOUT).option
        ranker = make_ranker(asked.method, params)
    untuned = used_params(ranker)
    if asked.tune:
        grid = default_grid(untuned.keys() - asked.params.keys(), exportable=asked.exportable)
        grid = {  # always try the defaults
            name: values if untuned[name] in values else (untuned[name], *values) for name, values in grid.items()
        }
        selections["tuning"] = select(data, clone(ranker), grid)
        ranker = selections["tuning"].ranker
    elif asked.method is not None:
        ranker.fit(data)
    warn_of_one_side(data)
    warn_if_useless(ranker, data)
    return Trained(ranker, repr(data), facts, data.feature_names, selections)


def from_labels(asked: Asked, labels: str) -> Trained:
    """Train on few labels of a pool, and on its clicks if it has any."""
    from rulerank.dataset import check_contrast, query_index
    from rulerank.judging.label_files import counted_grades, labels_to_learn_from
    from rulerank.judging.pool import read_pool
    from rulerank.selection.few_labels import PEOPLE, check_by_rater, few_label_params, fit_by_rater, warn_of_few_labels
    from rulerank.selection.select import select

    name = asked.method or (BY_RATER if asked.raters else FROM_BASELINE[0])
    anchored, code = name in FROM_BASELINE, method_named(name).name
    if asked.raters:
        check_by_rater(code, asked.raters)
    read = read_pool(asked.sources[0], **asked.columns)
    counting = labels_to_learn_from(read, labels, asked.raters)
    if asked.unjudged is not None:  # without it only labelled documents count
        grades, found = counted_grades(read, counting, asked.unjudged)
        report_left_out(found, len(read), count_all="--unjudged 0")
        counting = counting._replace(people=grades)
    pool, data = read.graded(counting.people), counting.labelled(read.data)
    facts = {"rows": len(data), "left_out": counting.n_left_out}
    if read.log is not None:
        if not anchored or "baseline" in asked.params:
            raise DataError(
                f"{asked.sources[0]} has clicks: only {' and '.join(FROM_BASELINE)} learn from clicks and labels "
                "together. Leave out --method, --raters and --set baseline=..."
            )
        ranker = (
            None if asked.method in (None, FROM_BASELINE[0]) and not asked.params else make_ranker(name, asked.params)
        )
        baseline = asked.baseline_option(read.log)
        learned = select(pool, ranker, clicks=read.log, baseline=baseline, exportable=asked.exportable)
        return Trained(learned.ranker, repr(data), facts, data.feature_names, {"few_labels": learned})
    would_be = " (the model would equal the baseline ranking)" if anchored else ""
    check_contrast(data.y, query_index(data.qid)[0], f"learn from{would_be}")
    usual = few_label_params(code)
    if asked.exportable and "normalize" in usual:
        usual = usual | {"normalize": None}
    params, baseline = usual | asked.params, asked.params.get("baseline")
    if baseline is None and (anchored or asked.baseline is not None):
        baseline = baseline_of(data.feature_names, asked.baseline, WITHOUT if anchored else "").option
    if anchored:
        params["baseline"] = baseline
    selections: dict[str, Selection] = {}
    if baseline is not None:
        ranker = make_ranker(name, params)
        selections["few_labels"] = select(pool, ranker, baseline=baseline, exportable=asked.exportable)
        fitted = selections["few_labels"].ranker
    elif asked.raters:
        by_rater = ({PEOPLE: counting.people} if counting.people else {}) | counting.others
        fitted = fit_by_rater(code, pool, by_rater, make_ranker(name, params))
    else:
        fitted = make_ranker(name, params).fit(pool)
    if baseline is None:
        warn_of_few_labels(code, len(data), fitted, pool)
        warn_of_one_side(data)
    warn_if_useless(fitted, data)
    return Trained(fitted, repr(data), facts, data.feature_names, selections)


def from_clicks(asked: Asked, data: Dataset) -> Trained:
    """Train on clicks; keep the baseline unless they show that the new ranking is better."""
    from rulerank.selection.from_clicks import CLICK_PARAMS
    from rulerank.selection.select import select

    if asked.tune:
        raise DataError(f"{asked.sources[0]} has clicks, which cannot be tuned on: leave out --tune")
    usual = CLICK_PARAMS if asked.method == BY_RATER else {}
    ranker = None if asked.method is None else make_ranker(asked.method, usual | asked.params)
    baseline = asked.baseline_option(data)
    learned = select(data, ranker, baseline=baseline, exportable=asked.exportable)
    saved = "new" if learned.ranker is learned.learned else "baseline"
    facts = {"rows": len(data), "saved": saved}
    return Trained(learned.ranker, repr(data), facts, data.feature_names, {"clicks": learned})


def from_parts(asked: Asked) -> Trained:
    """Train on files that may be larger than memory."""
    from rulerank._util.words import counted
    from rulerank.scale.part import Columns
    from rulerank.scale.partitions import check_learns, fit_opened, surveyed

    source = asked.sources[0]
    if len(asked.sources) > 1 or asked.tune or asked.baseline or asked.unjudged:
        raise DataError(f"{source} is read file by file, which works with --method, --set and columns only")
    if asked.method is None:
        raise DataError(f"{source} is read file by file: name the method, such as --method FittedRules")
    ranker = make_ranker(asked.method, UNTUNED.get(asked.method, {}) | asked.params)
    check_learns(ranker)
    named = asked.columns | ({"features": tuple(asked.columns["features"])} if "features" in asked.columns else {})
    with surveyed(source, Columns(**named), labelled_only=True, memory=MEMORY) as found:
        fit_opened(ranker, found)
    survey = found.survey
    if survey.n_left_out:
        print(f"left out: {survey.n_left_out:,} rows without a grade", file=sys.stderr)
    facts = {"parts": len(found.parts), "rows": survey.n_rows, "queries": survey.n_queries}
    n_queries = counted(survey.n_queries, "query", "queries")
    about = f"{counted(len(found.parts), 'part')}, {counted(survey.n_rows, 'row')}, {n_queries}"
    return Trained(ranker, about, facts | {"left_out": survey.n_left_out}, found.shape.feature_names)


def make_ranker(name: str, params: dict[str, Any]) -> Ranker:
    """Return a ranker with these parameters; refuse unknown ones."""
    method = method_named(name)
    ranker = method.ranker_class()()
    known = ranker.get_params()
    unknown = next((one for one in params if one not in known), None)
    if unknown is not None:
        raise DataError(f"{method.class_name} has no parameter {unknown!r}; choose from {', '.join(known)}")
    ranker.set_params(**params)
    return ranker


def used_params(ranker: Ranker) -> dict[str, Any]:
    """Return the parameters that affect the scores, with the values that open defaults were resolved to."""
    from rulerank.rankers.base import Ranker
    from rulerank.rankers.rule_ranker import RuleRanker

    params = {name: value for name, value in ranker.get_params().items() if name not in HIDDEN and "__" not in name}
    if params.get("metric") == "confidence":  # the only metric for votes other than "mean"
        del params["metric"]
    params |= {name: type(value).__name__ for name, value in params.items() if isinstance(value, Ranker)}
    used = ranker.stood_for() if isinstance(ranker, RuleRanker) else {}
    return params | {name: value for name, value in used.items() if name in params}


def count_rules(ranker: Ranker) -> int | None:
    """Return the number of rules, None if the ranker does not keep them."""
    try:
        rules = getattr(ranker, "rules_", None)
        return None if rules is None else len(rules)
    except TooLargeError:
        return None


def warn_of_one_side(data: Dataset) -> None:
    """Warn if nearly all labels have one grade; with many labels, most may have grade 0."""
    import numpy as np

    from rulerank.dataset import one_sided

    said = one_sided(data.y.tolist())
    if said is not None and (len(data) < MANY or np.bincount(data.y).argmax() > 0):
        warnings.warn(said, stacklevel=3)


def warn_if_useless(ranker: Ranker, data: Dataset) -> None:
    """Warn if all scores are equal."""
    scores = ranker.predict(data)
    if len(data) > 1 and (scores == scores[0]).all():
        warnings.warn("all documents get the same score: no feature separates the grades", stacklevel=3)
