"""rulerank train of a pool: few labels that start from the baseline ranking, clicks, and both together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rulerank.cli.options import report_left_out, start_of
from rulerank.cli.output import print_json
from rulerank.cli.parameters import make_ranker, used_params
from rulerank.cli.train_grades import WITHOUT_TODAY, Trained, warn_of_one_side
from rulerank.core.words import listed
from rulerank.dataset import Dataset, check_contrast, query_index
from rulerank.errors import DataError, ReadError
from rulerank.methods import FROM_TODAY, method_named
from rulerank.rankers.anchored.baseline import TodayModel
from rulerank.today import Today, suggest_today
from rulerank.training.few_labels import PEOPLE, few_label_params, fit_by_judge, select_from_today, warn_of_few_labels

if TYPE_CHECKING:
    from rulerank.cli.train import TrainOptions
    from rulerank.judging.label_files import GivenLabels
    from rulerank.judging.pool import Pool

INTERLEAVE = "    rulerank interleave today.run new.run -o mixed.jsonl"


def train_on_labels(options: TrainOptions) -> None:
    """Learn from few labels, write the model, and say what can honestly be said of it."""
    from rulerank.judging.label_files import counted_grades, labels_to_learn_from
    from rulerank.judging.pool import read_pool

    assert options.labels is not None
    read = read_pool(options.source, format=options.format, **options.named)
    counting = labels_to_learn_from(read, options.labels, options.judges)
    if options.unjudged is not None:  # labels are asked for one by one: others count only where it is said
        grades, found = counted_grades(read, counting, options.unjudged)
        report_left_out(found, len(read))
        counting = counting._replace(people=grades)
    if read.log is not None:
        train_on_both(options, read, counting)
        return
    options.check_no_propensities()
    pool, data = read.graded(counting.people), counting.labelled(read.data)
    would_be = " (the model would equal the baseline ranking)" if options.anchored else ""
    check_contrast(data.y, query_index(data.qid)[0], f"learn from{would_be}")
    start = perf_counter()
    learned, now, given, method = None, None, dict(options.given), options.method
    if options.anchored and "today" not in given:
        now = start_of(data.feature_names, options.today, WITHOUT_TODAY)
        given["today"] = now.option
    elif options.today is not None:
        now = start_of(data.feature_names, options.today)
    plain = method.name == FROM_TODAY[0] and set(given) == {"today"}  # only then it may hand over
    given = few_label_params(method.name) | given
    ranker = make_ranker(method.ranker_class(), given)
    if now is not None or options.anchored:
        where = given["today"] if now is None else now.option
        learned = select_from_today(pool, where, ranker=None if plain else ranker)
        ranker, method = learned.ranker, method_named(learned.method)
    elif options.judges:
        by_judge = {PEOPLE: counting.people} if counting.people else {}
        ranker = fit_by_judge(method.name, pool, by_judge | counting.others, ranker)
    else:
        ranker = ranker.fit(pool)
    seconds = perf_counter() - start
    ranker.save(options.out)
    if learned is None:
        warn_of_few_labels(method.name, len(data), ranker, pool)
        warn_of_one_side(data)
    Trained(ranker, method, data, counting.n_left_out, seconds, learned=learned).say(options)


def train_on_both(options: TrainOptions, pool: Pool, labels: GivenLabels) -> None:
    """Learn from the clicks of a pool and from its labels, write the model, and say what each had to say."""
    assert pool.log is not None
    if not options.anchored or "today" in options.given:
        what = "--set today=..." if options.anchored else f"--method {options.method.name}"
        raise DataError(
            f"{options.source} holds clicks, and of clicks and labels together learn {' and '.join(FROM_TODAY)}, which "
            f"start from what clicks say: leave out {'--judges' if options.judges else what}"
        )
    from rulerank.training.from_clicks import select_by_clicks_and_labels

    ranker = None
    if options.given or options.method.name != FROM_TODAY[0]:  # else it may hand over, where there are labels enough
        ranker = make_ranker(options.method.ranker_class(), options.given)
    known = None if options.propensities is None else read_propensities(options.propensities)
    now = todays_ranking(options, pool.log)
    start, today = perf_counter(), None if now is None else now.option
    found = select_by_clicks_and_labels(
        pool.log, pool.graded(labels.people), today=today, propensities=known, ranker=ranker
    )
    seconds = perf_counter() - start
    found.ranker.save(options.out)
    data, method = labels.labelled(pool.data), method_named(found.method)
    Trained(found.ranker, method, data, labels.n_left_out, seconds, learned=found).say(options)


def train_on_clicks(options: TrainOptions, data: Dataset) -> None:
    """Learn from clicks, write the model, and say what came of it."""
    source, out = options.source, options.out
    if options.tune or options.vali is not None or options.judge is not None:
        raise DataError(f"{source} holds clicks, which choose by themselves: leave out --tune, --vali and --judge")
    from rulerank.training.from_clicks import CLICK_PARAMS, select_by_clicks

    ranker = None
    if not options.auto:
        usual = CLICK_PARAMS if options.method.name == "QI" else {}
        ranker = make_ranker(options.method.ranker_class(), usual | options.given)
    known = None if options.propensities is None else read_propensities(options.propensities)
    now = todays_ranking(options, data)
    today, start = None if now is None else now.option, perf_counter()
    learned = select_by_clicks(data, ranker, propensities=known, today=today)
    seconds = perf_counter() - start
    learned.ranker.save(out)
    kept = learned.ranker is not learned.learned
    if options.as_json:
        print_json(
            {"model": out, "method": learned.method, "trained_on": [source], "rows": len(data)}
            | {"saved": "today" if kept else "new", "params": used_params(learned.ranker)}
            | {"clicks": learned.to_dict(), "seconds": round(seconds, 3)}
        )
        return
    print(f"trained on the clicks of {source}: {data!r}")
    print(f"features: {listed(data.feature_names)}")
    print(learned.reason)
    time = f"learned in {seconds:.1f} s"
    if kept:
        print(f"{out}: {learned.method}, today's ranking as it was; no new ranking is saved")
    elif not learned.facts["keep_today"]:
        print(f"{out}: {learned.method}, {time}")
    else:
        saved = f"{out}: {learned.method}, {time}; a new ranking, and nothing says yet that it is better than today's"
        print("\n".join([saved, *next_steps(options, data.feature_names, known=now is not None)]))


def next_steps(options: TrainOptions, names: Sequence[str], *, known: bool) -> list[str]:
    """Say how to find out whether a new ranking is better than today's, which is known or not."""
    compare = [f"    rulerank rank {quote(options.out)} POOL -o new.run", INTERLEAVE]
    if known:
        keep = f"To keep today's ranking until clicks say otherwise, leave out --method {options.method.name}."
        return [keep, "To let people compare the two:", *compare]
    more = [] if options.propensities is None else ["--propensities", quote(options.propensities)]
    again = ["rulerank train", quote(options.source), "--today NAME", *more, "-o", quote(options.out)]
    return [
        f"If a feature ({listed(names)}) or a saved model ranks the documents now, name it: it is kept unless clicks "
        "say otherwise.",
        f"    {' '.join(again)}",
        "If neither does, let people compare what they see now, as a run, with the new ranking:",
        *compare,
    ]


def todays_ranking(options: TrainOptions, log: Dataset) -> Today | TodayModel | None:
    """Return today's ranking as it was named, or as the name of a feature says; None: it is not known."""
    if options.today is None and suggest_today(log.feature_names) is None:
        return None
    return start_of(log.feature_names, options.today)


def read_propensities(path: str) -> dict[int, float]:
    """Read how likely each position is looked at: lines of a position and a number, or a JSON object of them."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"cannot be read: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            pairs = json.loads(text, object_pairs_hook=list)  # a position may be there twice
        except ValueError as error:
            raise ReadError(path, None, f'expected a JSON object such as {{"1": 1.0, "2": 0.6}}: {error}') from None
        return _each_once(path, [(None, position, value) for position, value in pairs])
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.replace("\t", ",").split(",")
        if not line.strip() or (number == 1 and cells[0].strip() == "position"):
            continue
        if len(cells) != 2:
            raise ReadError(path, number, f"expected a position and a propensity, such as 2,0.6: got {line!r}")
        lines.append((number, cells[0], cells[1]))
    if not lines:
        raise DataError(f"{path}: expected lines of a position and a propensity, such as 2,0.6: got none")
    return _each_once(path, lines)


def _each_once(path: str, pairs: Iterable[tuple[int | None, Any, Any]]) -> dict[int, float]:
    """Return propensities by position, from their lines in the file."""
    found: dict[int, float] = {}
    for line, position, value in pairs:
        place = _position(path, line, position)
        if place in found:
            raise ReadError(path, line, f"position {place} is there twice")
        found[place] = _number(path, line, value)
    return found


def _position(path: str, line: int | None, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ReadError(path, line, f"expected a position, a whole number from 1: got {value!r}") from None


def _number(path: str, line: int | None, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ReadError(path, line, f"expected a propensity, above 0 and at most 1: got {value!r}") from None
