"""rulerank train --labels: few labels of a pool, most of whose documents have none."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from rulerank.cli.options import report_left_out, start_of
from rulerank.cli.parameters import make_ranker
from rulerank.cli.train_asked import Asked
from rulerank.cli.train_both import train_on_both
from rulerank.cli.train_grades import WITHOUT_TODAY
from rulerank.cli.trained import Trained, warn_of_one_side
from rulerank.dataset import check_contrast, query_index
from rulerank.judging.by_judge import PEOPLE, fit_by_judge
from rulerank.judging.given_labels import counted_grades, labels_to_learn_from
from rulerank.judging.pool import read_pool
from rulerank.methods import FROM_TODAY, method_named
from rulerank.training.few_labels import few_label_params
from rulerank.training.from_today import learn_from_today, warn_of_few_labels, warn_of_ties
from rulerank.training.in_pool import fit_in_pool


def train_on_labels(asked: Asked) -> None:
    """Learn from few labels, write the model, and say what can honestly be said of it."""
    assert asked.labels is not None
    read = read_pool(asked.source, format=asked.format, **asked.named)
    counting = labels_to_learn_from(read, asked.labels, asked.judges)
    if asked.unjudged is not None:  # labels are asked for one by one: others count only where it is said
        grades, found = counted_grades(read, counting, asked.unjudged)
        report_left_out(found, len(read))
        counting = counting._replace(people=grades)
    if read.log is not None:
        train_on_both(asked, read, counting)
        return
    asked.check_no_propensities()
    pool, data = read.graded(counting.people), counting.labelled(read.data)
    would_be = " (the model would equal the baseline ranking)" if asked.anchored else ""
    check_contrast(data.y, query_index(data.qid)[0], f"learn from{would_be}")
    start = perf_counter()
    learned, now, given, method = None, None, dict(asked.given), asked.method
    if asked.anchored and "today" not in given:
        now = start_of(data.feature_names, asked.today, WITHOUT_TODAY)
        given["today"] = now.option
    elif asked.today is not None:
        now = start_of(data.feature_names, asked.today)
    plain = method.name == FROM_TODAY[0] and set(given) == {"today"}  # only then it may hand over
    given = few_label_options(method.name, given)
    ranker = make_ranker(method.ranker_class(), given)
    if now is not None or asked.anchored:
        where = given["today"] if now is None else now.option
        learned = learn_from_today(pool, where, ranker=None if plain else ranker)
        ranker, method = learned.ranker, method_named(learned.method) if learned.took_over else method
    elif asked.judges:
        by_judge = {PEOPLE: counting.people} if counting.people else {}
        ranker = fit_by_judge(method.name, pool, by_judge | counting.others, ranker)
    else:
        ranker = fit_in_pool(ranker, pool)
    seconds = perf_counter() - start
    ranker.save(asked.out)
    warn_of_few_labels(method.name, len(data))
    if learned is None:
        warn_of_ties(ranker, pool)
        warn_of_one_side(data)
    Trained(ranker, method, data, counting.n_left_out, seconds, learned=learned).say(asked)


def few_label_options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters set for few labels, where they were not given.

    >>> few_label_options("QI", {"l2": 10})
    {'l2': 10, 'normalize': 'zscore', 'missing': 'mean'}
    """
    return few_label_params(method) | given
