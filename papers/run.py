"""Systems that build on what others made of a fold (fusions, as many labels as SSAR asks for), run after those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rulerank.dataset import Fold
from rulerank.errors import DataError
from rulerank.experiment.run import Experiment, Failure, run_experiment
from rulerank.experiment.systems import Scores, System


@dataclass(frozen=True)
class Follower(System):
    """A system whose plan takes the scores of others: `run(fold, used, measure)`."""

    plan: Any
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AfterOthers:
    """A plan with what the others made of each fold."""

    plan: Any
    used: Mapping[str, Mapping[str, Scores | Failure]]  # by fold and system

    def run(self, fold: Fold, measure: str) -> Scores:
        for name, outcome in self.used[fold.name].items():
            if isinstance(outcome, Failure):
                raise DataError(f"it builds on {name}: {outcome.reason}")
        scores: Scores = self.plan.run(fold, self.used[fold.name], measure)
        return scores


def run_systems(folds: Sequence[Fold], systems: Sequence[System], **options: Any) -> Experiment:
    """Run systems as `run_experiment` does, those that build on others after these."""
    followers = [system for system in systems if isinstance(system, Follower)]
    first = run_experiment(folds, [system for system in systems if system not in followers], **options)
    if not followers:
        return first
    outcomes: dict[tuple[str, int], Scores | Failure] = first.cells | first.failures
    ready = []
    for system in followers:
        used = {fold.name: {name: outcomes[name, n] for name in system.uses} for n, fold in enumerate(folds)}
        ready.append(System(system.name, system.group, AfterOthers(system.plan, used), system.about))
    then = run_experiment(folds, ready, **options)
    return replace(
        first, systems=tuple(systems), cells=first.cells | then.cells, failures=first.failures | then.failures
    )
