"""What a curve is drawn from: folds and random draws in each, or many splits into halves and today's ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rulerank.core.checks import is_whole
from rulerank.dataset import Dataset, Fold, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.experiment.label_curve.learners import LEARNERS
from rulerank.experiment.label_curve.result import BEST_FEATURE, RANDOM
from rulerank.experiment.label_curve.simulation import Sampler, random_order
from rulerank.experiment.label_curve.splits import HalfSplits
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata
from rulerank.worlds import make_folds

AnySampler = Sampler | SSAR | Strata
RANKERS = ("RE-GR", "QI")
SAMPLERS: dict[str, AnySampler] = {
    "SSAR": SSAR(),
    "SSARP": SSAR(partitions=5),
    "SSAR per query": SSAR(per_query=True),
}
STRATA = "strata"
SIZES = (20, 50, 100, 200, 400)  # of splits
N_DRAWS = 20  # of a fold


@dataclass(frozen=True)
class Design:
    """How labelling is simulated; folds and splits differ in it."""

    folds: Sequence[Fold]
    rankers: tuple[str, ...]  # by default
    samplers: Mapping[str, AnySampler]
    sizes: Sequence[int] | None  # None: round numbers up to the latest stop
    n_draws: int  # of random documents
    measure: str
    in_splits: bool  # no line of all labels, each sampler at its own stop only, and not all splits need be done

    @property
    def most(self) -> int | None:
        """The labels asked for at most; None: until a sampler stops by itself."""
        return max(self.sizes) if self.in_splits and self.sizes else None


def fold_design(
    data: Dataset | Sequence[Fold],
    samplers: Mapping[str, AnySampler],
    sizes: Sequence[int] | None,
    n_draws: int | None,
    measure: str | None,
    seed: int,
) -> Design:
    """Return how to compare samplers with chance: in every fold many random draws."""
    folds = make_folds(data.labelled(), seed=seed) if isinstance(data, Dataset) else list(data)
    if not folds:
        raise DataError("expected at least one fold to draw a curve from: got none")
    draws = N_DRAWS if n_draws is None else n_draws
    if not is_whole(draws, 2):
        raise DataError(f"n_draws must be a whole number from 2, as a band needs several: got {draws!r}")
    others = {name: sampler for name, sampler in samplers.items() if name != RANDOM}
    return Design(folds, RANKERS, others | {RANDOM: random_order}, sizes, draws, measure or "MAP", in_splits=False)


def split_design(
    data: Dataset | Sequence[Fold],
    n_splits: int,
    keep_one_in: int | None,
    samplers: Mapping[str, AnySampler],
    sizes: Sequence[int] | None,
    n_draws: int | None,
    measure: str | None,
    seed: int,
) -> Design:
    """Return how to compare learners and samplers with today's ranking: in many splits."""
    if not isinstance(data, Dataset):
        raise DataError("n_splits splits graded documents: give them as one Dataset, not as folds")
    splits = HalfSplits(data, n_splits, keep_one_in=keep_one_in, seed=seed)
    check_contrast(splits.data.y, query_index(splits.data.qid)[0], "show gains by")
    draws = 1 if n_draws is None else n_draws  # there are many splits
    if not is_whole(draws, 1):
        raise DataError(f"n_draws must be a whole number from 1: got {draws!r}")
    if sizes is None:
        smallest = min(len(split.train) for split in splits)
        sizes = [size for size in SIZES if size <= smallest]
    return Design(splits, LEARNERS, samplers, sizes, draws, measure or "NDCG@10", in_splits=True)


def samplers_named(names: Sequence[str] | None, today: str | None) -> dict[str, AnySampler]:
    """Return ways to choose by their names, all by default; capitals do not matter.

    >>> [*samplers_named(["random", "ssarp"], today=None)]
    ['random', 'SSARP']
    """
    strata = {} if today is None else {STRATA: Strata(today=today)}
    known: dict[str, AnySampler] = {**strata, **SAMPLERS, RANDOM: random_order}
    if names is None:
        return known
    by_name = {name.lower(): name for name in known}
    chosen = {}
    for name in names:
        if name.lower() == STRATA and today is None:
            raise DataError(
                "strata are those of today's ranking: say which feature it is (--today, in Python today='bm25')"
            )
        if name.lower() not in by_name:
            raise DataError(f"unknown sampler {name!r}; choose from {', '.join(known)}")
        chosen[by_name[name.lower()]] = known[by_name[name.lower()]]
    return chosen


def top_name(feature: str | None) -> str:
    """Return what the top-of-a-feature sampling is called."""
    return f"top of {BEST_FEATURE if feature is None else feature}"
