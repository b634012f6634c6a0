"""rulerank train of clicks and few labels together: clicks first, and labels go on from there."""

from __future__ import annotations

from time import perf_counter

from rulerank.cli.parameters import make_ranker
from rulerank.cli.train_asked import Asked
from rulerank.cli.train_clicks import read_propensities, todays_ranking
from rulerank.cli.trained import Trained
from rulerank.errors import DataError
from rulerank.judging.given_labels import GivenLabels
from rulerank.judging.pool import Pool
from rulerank.methods import FROM_TODAY, method_named
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.training.from_both import learn_from_both


def train_on_both(asked: Asked, pool: Pool, labels: GivenLabels) -> None:
    """Learn from the clicks of a pool and from its labels, write the model, and say what each had to say."""
    assert pool.log is not None
    if not asked.anchored or "today" in asked.given:
        what = "--set today=..." if asked.anchored else f"--method {asked.method.name}"
        raise DataError(
            f"{asked.source} holds clicks, and of clicks and labels together learn {' and '.join(FROM_TODAY)}, which "
            f"start from what clicks say: leave out {'--judges' if asked.judges else what}"
        )
    ranker = None
    if asked.given or asked.method.name != FROM_TODAY[0]:  # else it may hand over, where there are labels enough
        ranker = make_ranker(asked.method.ranker_class(), asked.given)
        assert isinstance(ranker, StartsFromToday)
    known = None if asked.propensities is None else read_propensities(asked.propensities)
    now = todays_ranking(asked, pool.log)
    start = perf_counter()
    found = learn_from_both(
        pool.log,
        pool.graded(labels.people),
        today=None if now is None else now.option,
        propensities=known,
        ranker=ranker,
    )
    seconds = perf_counter() - start
    found.ranker.save(asked.out)
    method = method_named(found.labels.method) if found.labels.took_over else asked.method
    data = labels.labelled(pool.data)
    Trained(found.ranker, method, data, labels.n_left_out, seconds, learned=found.labels, both=found).say(asked)
