"""rulerank train: learn a ranker from grades, few labels or clicks, and write it to a file."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from rulerank.cli.options import (
    AsJson,
    Baseline,
    Docid,
    Features,
    Grade,
    Qid,
    argument,
    baseline_of,
    columns,
    flag,
    name_and_settings,
    names_model,
    option,
    report_left_out,
    settings,
)
from rulerank.errors import DataError, ReadError
from rulerank.methods import FROM_TODAY, method_named

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.rankers.base import Ranker
    from rulerank.training import Selection

BY_RATER = "QueryIntercepts"  # the method that has intercepts for raters
HIDDEN = ("n_jobs", "memory_budget", "keep_rows", "work_limit")  # parameters that say nothing about the scores
WITHOUT = "; or a method that does without, such as --method QueryIntercepts"
MANY = 1000  # labels, with which no learner is short of grades above 0
MEMORY = 1024  # MiB of a folder's data at once


def train(
    source: Annotated[str, argument("DATA", "Graded documents, - for stdin; or a folder, read file by file.")],
    out: Annotated[str, option("FILE", "The model file; an older model is replaced.", "--out", "-o")],
    method: Annotated[str | None, option("NAME", "One of `rulerank methods` [chosen; with --labels Anchored].")] = None,
    given: Annotated[list[str] | None, option("NAME=VALUE", "A parameter (`rulerank methods X`).", "--set")] = None,
    vali: Annotated[str | None, option("FILE", "More graded documents; tunes on both files together.")] = None,
    tune: Annotated[bool, flag("Choose parameters that are not set by cross-validation.", "--tune")] = False,
    labels: Annotated[str | None, option("FILE", "Grades of some documents: a label store, csv, qrels, LETOR.")] = None,
    raters: Annotated[list[str] | None, option("NAME", "Who counts besides people in --labels; repeat it.")] = None,
    baseline: Baseline = None,
    propensities: Annotated[str | None, option("FILE", "Of clicks: chances of positions, as 2,0.6.")] = None,
    unjudged: Annotated[str | None, option("0|skip", "Without a judgement: not relevant (0), or left out.")] = None,
    qid: Qid = None,
    docid: Docid = None,
    grade: Grade = None,
    features: Features = None,
    as_json: AsJson = False,
) -> None:
    """Learn a ranker from graded documents.

    The model is written to a file, which `rulerank rank` reads. Unless --method names one, the method is chosen by
    cross-validation by query, and a line says which and why. With --vali or --tune, the parameters that are not set are
    chosen so, too, and the table they were chosen from is printed.

    A folder (or a pattern such as 'data/*.parquet', in quotes) need not fit in memory; the model is the same as from
    one file that holds all. Each file holds whole queries.

    With --labels, which are few, the model starts from the baseline ranking (--baseline, a feature or a model file) and
    moves away from it only as far as the labels say; what can honestly be said of it is printed. `rulerank check` says
    whether it is better.

    Documents that carry clicks (`rulerank clicks`) teach by them: what positions do to clicks is found and printed.
    Unless the clicks of held-out queries say that the new ranking is better than the baseline, the baseline is kept.
    With --labels of documents that were shown, labels go on from the clicks' model or from the baseline, as both say.

    Example:

    \b
        rulerank train train.txt -o model.rulerank
        rulerank train train.txt -o model.rulerank --method GlobalRules --set votes=mean --set drop_weakest=0
        rulerank train train.txt --vali vali.txt -o model.rulerank --method GlobalRules --set max_size=1
        rulerank train parts -o model.rulerank --method GlobalRules
        rulerank train pool.csv --labels graded.csv --baseline bm25_body -o model.rulerank
        rulerank train pool.csv --labels each.csv --raters gpt -o model.rulerank
        rulerank train pool-with-clicks.parquet -o model.rulerank --propensities looked-at.csv
        rulerank train pool-with-clicks.parquet --labels graded.csv --baseline clicks.rulerank -o both.rulerank
    """
    from rulerank.io.streams import is_many
    from rulerank.model_file import check_overwrite, check_target, is_model_file
    from rulerank.recall_base import check_unjudged

    if out == "-":
        raise DataError("a model is written to a file: name one, such as -o model.rulerank")
    check_target(out)
    check_unjudged(unjudged)
    sources = [name for name in (source, vali, labels) if name is not None]
    check_overwrite(out, sources + ([baseline] if baseline is not None and is_model_file(baseline) else []))
    name, of_name = name_and_settings(method, "--method") if method is not None else (None, {})
    params = of_name | settings(given)
    if name is None and params:
        chosen = f"--set {next(iter(params))}"
        raise DataError(f"{chosen} is of one method: name it, such as --method GlobalRules {chosen}=...")
    if sources.count("-") > 1:
        raise DataError("only one file can be stdin: - is there twice")
    if raters and (labels is None or baseline is not None):
        raise DataError("--raters says who counts besides people in --labels: add --labels, and leave out --baseline")
    asked = Asked(
        sources=sources,
        out=out,
        method=None if name is None else method_named(name).class_name,
        params=params,
        columns=columns(qid, docid, grade, features),
        tune=tune or vali is not None,
        raters=raters or [],
        baseline=baseline,
        propensities=None if propensities is None else read_propensities(propensities),
        unjudged=unjudged,
    )
    if labels is not None and asked.tune:
        raise DataError("--labels is for few labels, too few to choose parameters by: leave out --tune and --vali")
    start = perf_counter()
    if is_many(source):
        trained = from_parts(asked)
    elif labels is not None:
        trained = from_labels(asked, labels)
    else:
        trained = from_data(asked)
    seconds = perf_counter() - start
    trained.ranker.save(out)
    trained.say(asked, seconds, as_json=as_json)


@dataclass(frozen=True)
class Asked:
    """What `rulerank train` was asked for."""

    sources: list[str]
    out: str
    method: str | None  # None: it is to be chosen
    params: dict[str, Any]
    columns: dict[str, Any]
    tune: bool
    raters: list[str]
    baseline: str | None
    propensities: dict[int, float] | None
    unjudged: str | None

    @property
    def anchored(self) -> bool:
        """Whether a method was named that starts from the baseline."""
        return self.method in FROM_TODAY

    def check_no_clicks(self) -> None:
        """Refuse propensities for data without clicks."""
        if self.propensities is not None:
            raise DataError(
                f"--propensities is for clicks, and {self.sources[0]} holds none: `rulerank clicks` joins a log to it"
            )

    def baseline_option(self, data: Dataset) -> Any:
        """Return the baseline of data with clicks, as `select` takes it; None: it is not known."""
        from rulerank.today import suggest_today

        if self.baseline is None and suggest_today(data.feature_names) is None:
            return None
        return baseline_of(data.feature_names, self.baseline).option


@dataclass(frozen=True)
class Trained:
    """A ranker, what it learned from, and how it was selected."""

    ranker: Ranker
    about: str  # what it learned from, in words
    facts: dict[str, Any]  # the same, as plain values
    feature_names: tuple[str, ...]
    selections: dict[str, Selection] = field(default_factory=dict)  # by what was selected

    def say(self, asked: Asked, seconds: float, *, as_json: bool) -> None:
        """Print what was learned, and from what."""
        from rulerank.cli.output import print_json
        from rulerank.core.words import counted, listed

        params, n_rules, kind = used_params(self.ranker), count_rules(self.ranker), type(self.ranker).__name__
        if as_json:
            payload = {"model": asked.out, "method": kind, "trained_on": asked.sources, **self.facts}
            payload |= {"features": len(self.feature_names), "feature_names": self.feature_names, "params": params}
            found = {
                name: one.facts if name == "few_labels" else one.to_dict() for name, one in self.selections.items()
            }
            if "few_labels" in found.get("few_labels", {}):  # with clicks before them
                found = dict(found["few_labels"])
            print_json(payload | {"rules": n_rules, "seconds": round(seconds, 3)} | found)
            return
        print(f"trained on {' and '.join(asked.sources)}: {self.about}")
        print(f"features: {listed(self.feature_names)}")
        if "chosen" in self.selections:
            print(f"method chosen: {self.selections['chosen'].reason}")
        if "tuning" in self.selections:
            tuned = self.selections["tuning"]
            print(f"\nchosen by {tuned.measure} in cross-validation by query, the best first\n\n{tuned}\n")
        words = [f"{name} {'none' if value is None else value}" for name, value in params.items()]
        print(f"{kind}: {', '.join(words)}")
        rules = "" if n_rules is None else f"{counted(n_rules, 'rule')}, "
        kept = self.facts.get("saved") == "baseline"
        how = "the baseline ranking as it was; no new ranking is saved" if kept else f"learned in {seconds:.1f} s"
        print(f"{asked.out}: {rules}{how}")
        for name in ("few_labels", "clicks"):
            if name in self.selections:
                print(self.selections[name].reason)


def from_data(asked: Asked) -> Trained:
    """Learn from graded documents, or from those that carry clicks."""
    from rulerank.rankers.documents import read_together

    read = read_together(asked.sources, None, asked.columns)
    if read.shown is not None:
        return from_clicks(asked, read)
    counting = read.counted_rows(asked.unjudged)
    data = read.counted(counting)
    if not len(data):
        names = " and ".join(asked.sources)
        raise DataError(f"{names}: no document has a grade, so there is nothing to learn from")
    report_left_out(counting, len(read))
    return from_grades(asked, data, {"rows": len(data), "left_out": len(read) - len(data)})


def from_grades(asked: Asked, data: Dataset, facts: dict[str, Any]) -> Trained:
    """Learn from graded documents; the method or its parameters may be selected."""
    from sklearn.base import clone

    from rulerank.dataset import check_contrast, query_index
    from rulerank.training.selection import GRID, select

    asked.check_no_clicks()
    if asked.baseline is not None and not asked.anchored:
        few = FROM_TODAY[0]
        raise DataError(f"--baseline is where {few} starts from: leave it out, or add --labels or --method {few}")
    check_contrast(data.y, query_index(data.qid)[0])
    selections: dict[str, Selection] = {}
    if asked.method is None:
        selections["chosen"] = select(data)
        ranker = selections["chosen"].ranker
    else:
        params = dict(asked.params)
        if asked.anchored and "today" not in params:
            params["today"] = baseline_of(data.feature_names, asked.baseline, WITHOUT).option
        ranker = make_ranker(asked.method, params)
    untuned = used_params(ranker)
    if asked.tune:
        grid = {name: values for name, values in GRID.items() if name in untuned and name not in asked.params}
        grid = {  # the defaults are always among what is tried
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
    """Learn from few labels of a pool, and from its clicks where it carries some."""
    from rulerank.dataset import check_contrast, query_index
    from rulerank.judging.label_files import counted_grades, labels_to_learn_from
    from rulerank.judging.pool import read_pool
    from rulerank.training.few_labels import (
        PEOPLE,
        check_by_judge,
        few_label_params,
        fit_by_judge,
        warn_of_few_labels,
    )
    from rulerank.training.selection import select

    name = asked.method or (BY_RATER if asked.raters else FROM_TODAY[0])
    anchored, code = name in FROM_TODAY, method_named(name).name
    if asked.raters:
        check_by_judge(code, asked.raters)
    read = read_pool(asked.sources[0], **asked.columns)
    counting = labels_to_learn_from(read, labels, asked.raters)
    if asked.unjudged is not None:  # labels are asked for one by one: others count only where it is said
        grades, found = counted_grades(read, counting, asked.unjudged)
        report_left_out(found, len(read))
        counting = counting._replace(people=grades)
    pool, data = read.graded(counting.people), counting.labelled(read.data)
    facts = {"rows": len(data), "left_out": counting.n_left_out}
    if read.log is not None:
        if not anchored or "today" in asked.params:
            raise DataError(
                f"{asked.sources[0]} holds clicks, and of clicks and labels together learn {' and '.join(FROM_TODAY)}, "
                "which start from what clicks say: leave out --method, --raters and --set today=..."
            )
        ranker = None if asked.method in (None, FROM_TODAY[0]) and not asked.params else make_ranker(name, asked.params)
        today = asked.baseline_option(read.log)
        learned = select(pool, ranker, clicks=read.log, today=today, propensities=asked.propensities)
        return Trained(learned.ranker, repr(data), facts, data.feature_names, {"few_labels": learned})
    asked.check_no_clicks()
    would_be = " (the model would equal the baseline ranking)" if anchored else ""
    check_contrast(data.y, query_index(data.qid)[0], f"learn from{would_be}")
    params, today = few_label_params(code) | asked.params, asked.params.get("today")
    if today is None and (anchored or asked.baseline is not None):
        today = baseline_of(data.feature_names, asked.baseline, WITHOUT if anchored else "").option
    if anchored:
        params["today"] = today
    selections: dict[str, Selection] = {}
    if today is not None:
        plain = name == FROM_TODAY[0] and params.keys() <= {"today"} | few_label_params(code).keys()
        # only as it is usually set, it may hand over to a full learner
        selections["few_labels"] = select(pool, None if plain else make_ranker(name, params), today=today)
        fitted = selections["few_labels"].ranker
    elif asked.raters:
        by_rater = ({PEOPLE: counting.people} if counting.people else {}) | counting.others
        fitted = fit_by_judge(code, pool, by_rater, make_ranker(name, params))
    else:
        fitted = make_ranker(name, params).fit(pool)
    if today is None:
        warn_of_few_labels(code, len(data), fitted, pool)
        warn_of_one_side(data)
    warn_if_useless(fitted, data)
    return Trained(fitted, repr(data), facts, data.feature_names, selections)


def from_clicks(asked: Asked, data: Dataset) -> Trained:
    """Learn from clicks; the baseline is kept unless they say that the new ranking is better."""
    from rulerank.training.from_clicks import CLICK_PARAMS
    from rulerank.training.selection import select

    if asked.tune:
        raise DataError(f"{asked.sources[0]} holds clicks, which choose by themselves: leave out --tune and --vali")
    usual = CLICK_PARAMS if asked.method == BY_RATER else {}
    ranker = None if asked.method is None else make_ranker(asked.method, usual | asked.params)
    learned = select(data, ranker, today=asked.baseline_option(data), propensities=asked.propensities)
    saved = "new" if learned.ranker is learned.learned else "baseline"
    facts = {"rows": len(data), "saved": saved}
    return Trained(learned.ranker, repr(data), facts, data.feature_names, {"clicks": learned})


def from_parts(asked: Asked) -> Trained:
    """Learn file by file."""
    from rulerank.core.words import counted
    from rulerank.scale.fit import check_learns, fit_surveyed, surveyed
    from rulerank.scale.part import Columns

    source = asked.sources[0]
    if len(asked.sources) > 1 or asked.tune or asked.baseline or asked.propensities or asked.unjudged:
        raise DataError(f"{source} is read file by file: only --method, --set and columns go with a folder of files")
    if asked.method is None:
        raise DataError(f"{source} is read file by file: name the method, such as --method FittedRules")
    ranker = make_ranker(asked.method, asked.params)
    check_learns(ranker)
    named = asked.columns | ({"features": tuple(asked.columns["features"])} if "features" in asked.columns else {})
    with surveyed(source, Columns(**named), labelled_only=True, memory=MEMORY) as found:
        fit_surveyed(ranker, found, MEMORY)
    survey = found.survey
    if survey.n_left_out:
        print(f"{survey.n_left_out:,} rows have no grade and are left out", file=sys.stderr)
    facts = {"parts": len(found.parts), "rows": survey.n_rows, "queries": survey.n_queries}
    n_queries = counted(survey.n_queries, "query", "queries")
    about = f"{counted(len(found.parts), 'part')}, {counted(survey.n_rows, 'row')}, {n_queries}"
    return Trained(ranker, about, facts | {"left_out": survey.n_left_out}, found.shape.feature_names)


def make_ranker(name: str, params: dict[str, Any]) -> Ranker:
    """Return a ranker with the parameters that were given, all of which it must have."""
    method = method_named(name)
    ranker = method.ranker_class()()
    known = ranker.get_params()
    unknown = next((one for one in params if one not in known), None)
    if unknown is not None:
        raise DataError(f"{method.class_name} has no parameter {unknown!r}; it has {', '.join(known)}")
    if isinstance(params.get("today"), str) and names_model(params["today"]):
        from rulerank.model_file import load_ranker

        params = params | {"today": load_ranker(params["today"])}
    ranker.set_params(**params)
    return ranker


def used_params(ranker: Ranker) -> dict[str, Any]:
    """Return the parameters that say something about the scores, with what is used where the default is left open."""
    from rulerank.rankers.base import Ranker
    from rulerank.rankers.rule_ranker import RuleRanker

    params = {name: value for name, value in ranker.get_params().items() if name not in HIDDEN and "__" not in name}
    if params.get("metric") == "confidence":  # the only one that votes other than "mean" know
        del params["metric"]
    if params.get("mapped"):
        del params["mapped"]
    params |= {name: type(value).__name__ for name, value in params.items() if isinstance(value, Ranker)}
    used = ranker.stood_for() if isinstance(ranker, RuleRanker) else {}
    return params | {name: value for name, value in used.items() if name in params}


def count_rules(ranker: Ranker) -> int | None:
    """Return how many rules the ranker has, None when it does not keep them."""
    rules = getattr(ranker, "rules_", None)
    return None if rules is None else len(rules)


def warn_of_one_side(data: Dataset) -> None:
    """Warn where nearly all labels have one grade; where there are many, grade 0 may well be the grade of most."""
    import numpy as np

    from rulerank.dataset import one_sided

    said = one_sided(data.y.tolist())
    if said is not None and (len(data) < MANY or np.bincount(data.y).argmax() > 0):
        warnings.warn(said, stacklevel=3)


def warn_if_useless(ranker: Ranker, data: Dataset) -> None:
    """Say so when the model cannot tell documents apart; of one document nothing can be said."""
    scores = ranker.predict(data)
    if len(data) > 1 and (scores == scores[0]).all():
        warnings.warn("every document will get the same score: no feature tells their grades apart", stacklevel=3)


def read_propensities(path: str) -> dict[int, float]:
    """Read how likely each position is looked at: lines of a position and a number."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    found: dict[int, float] = {}
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.replace("\t", ",").split(",")]
        if cells == [""] or (number == 1 and cells[0] == "position"):
            continue
        try:
            place, value = int(cells[0]), float(cells[1])
        except (IndexError, ValueError):
            raise ReadError(
                path, number, f"expected a position and a propensity, such as 2,0.6: got {line!r}"
            ) from None
        if place in found:
            raise ReadError(path, number, f"position {place} is there twice")
        found[place] = value
    if not found:
        raise ReadError(path, None, "expected lines of a position and a propensity, such as 2,0.6: got none")
    return found
