"""What `rulerank train` came to, in a file and in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.cli.output import print_json, print_tuning
from rulerank.cli.parameters import as_word, used_params
from rulerank.cli.train_asked import Asked
from rulerank.core.words import counted, listed
from rulerank.dataset import Dataset, one_sided
from rulerank.errors import TooLargeError
from rulerank.methods import Method
from rulerank.rankers.base import Ranker
from rulerank.training.choose import Chosen
from rulerank.training.from_both import FromBoth
from rulerank.training.from_today import FromToday
from rulerank.training.tuning import Tuned

MANY = 1000  # labels, with which no learner is short of grades above 0
SAMPLE = 1000  # rows that nearly always show whether scores differ


@dataclass(frozen=True)
class Trained:
    """A ranker learned from grades, and how it was found."""

    ranker: Ranker
    method: Method
    data: Dataset  # the graded documents
    n_left_out: int
    seconds: float
    chosen: Chosen | None = None
    tuned: Tuned | None = None
    untuned: Ranker | None = None
    learned: FromToday | None = None
    both: FromBoth | None = None  # clicks and labels together, of which learned is the labels' part

    def say(self, asked: Asked) -> None:
        """Print what was learned, and from what."""
        params, n_rules = used_params(self.ranker), count_rules(self.ranker)
        warn_if_useless(self.ranker, self.data)
        if asked.as_json:
            print_json(self._to_dict(asked, params, n_rules))
            return
        print(f"trained on {' and '.join(asked.sources)}: {self.data!r}")
        print(f"features: {listed(self.data.feature_names)}")
        for line in () if self.both is None else (*self.both.clicks.lines(), *self.both.about_the_start()):
            print(line)
        if self.chosen is not None:
            print(f"method chosen: {self.chosen.reason}")
        if self.tuned is not None and self.untuned is not None:
            print_tuning(self.tuned, used_params(self.untuned))
        print(f"{self.method.name}: {', '.join(f'{name} {as_word(value)}' for name, value in params.items())}")
        rules = "" if n_rules is None else f"{counted(n_rules, 'rule')}, "
        print(f"{asked.out}: {rules}learned in {self.seconds:.1f} s")
        for line in () if self.learned is None else self.learned.lines():
            print(line)

    def _to_dict(self, asked: Asked, params: dict[str, Any], n_rules: int | None) -> dict[str, Any]:
        summary = {
            "model": asked.out,
            "method": self.method.name,
            "trained_on": asked.sources,
            "rows": len(self.data),
            "left_out": self.n_left_out,
            "features": len(self.data.feature_names),
            "feature_names": self.data.feature_names,
            "params": params,
            "rules": n_rules,
            "seconds": round(self.seconds, 3),
        }
        if self.both is not None:
            return summary | self.both.to_dict()
        found = {"chosen": self.chosen, "tuning": self.tuned, "few_labels": self.learned}
        return summary | {name: one.to_dict() for name, one in found.items() if one is not None}


def count_rules(ranker: Ranker) -> int | None:
    """Return how many rules the ranker has, None when it does not keep them."""
    try:
        rules = getattr(ranker, "rules_", None)
        return None if rules is None else len(rules)
    except TooLargeError:
        return None


def warn_of_one_side(data: Dataset) -> None:
    """Warn where nearly all labels have one grade; where there are many, grade 0 may well be the grade of most."""
    said = one_sided(data.y.tolist())
    if said is not None and (len(data) < MANY or np.bincount(data.y).argmax() > 0):
        warnings.warn(said, stacklevel=3)


def warn_if_useless(ranker: Ranker, data: Dataset) -> None:
    """Say so when the model cannot tell documents apart; of one document nothing can be said."""
    if len(data) < 2:
        return
    scores = ranker.predict(data[:SAMPLE])
    if (scores == scores[0]).all() and len(data) > SAMPLE:
        scores = ranker.predict(data)
    if (scores == scores[0]).all():
        alike = (data.y == data.y[0]).all()
        why = f"all training documents have grade {data.y[0]}" if alike else "no feature tells their grades apart"
        warnings.warn(f"every document will get the same score: {why}", stacklevel=3)
