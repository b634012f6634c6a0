"""What `rulerank train` was asked for, checked as far as it can be before the data are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rulerank.cli.parameters import literal_options
from rulerank.errors import DataError
from rulerank.judging.by_judge import BY_JUDGE, check_by_judge
from rulerank.methods import FROM_TODAY, Method, method_named
from rulerank.model_file import check_overwrite, is_model_file
from rulerank.rankers.base import Ranker
from rulerank.rankers.foreign import takes
from rulerank.recall_base import check_judged_extra, check_unjudged
from rulerank.scale.opening import is_many

OPTIONS = ("literal", "votes", "discretizer", "normalize", "max_size", "min_support", "drop_weakest")  # by themselves


@dataclass(frozen=True)
class Asked:
    """The options of `rulerank train`, as all ways of training take them."""

    source: str
    out: str
    auto: bool  # the method is to be chosen
    method: Method  # with auto, the one for few labels
    given: dict[str, Any]  # parameters of the method
    named: dict[str, Any]  # columns
    format: str | None
    vali: str | None
    tune: bool
    measure: str
    labels: str | None
    judges: tuple[str, ...]
    judge: str | None
    today: str | None
    propensities: str | None
    unjudged: str | None
    judged_extra: str | None
    as_json: bool

    @property
    def sources(self) -> list[str]:
        """The files that are learned from."""
        return [name for name in (self.source, self.vali, self.labels) if name is not None]

    @property
    def anchored(self) -> bool:
        """Whether the method starts from today's ranking."""
        return self.method.name in FROM_TODAY

    def check_today_starts_something(self) -> None:
        """Refuse a today's ranking from which nothing starts; clicks are compared with it, whatever the method."""
        if self.today is not None and self.labels is None and (self.auto or not self.anchored):
            few = FROM_TODAY[0]
            raise DataError(f"--today is where {few} starts from: leave it out, or add --labels or --method {few}")

    def check_no_propensities(self) -> None:
        """Refuse propensities for data without clicks."""
        if self.propensities is not None:
            raise DataError(
                f"--propensities is for clicks, and {self.source} holds none: `rulerank clicks` joins a log to it"
            )


def ask(*, method: str | None, given: dict[str, Any], literal: bool, **options: Any) -> Asked:
    """Return what was asked for, or say what does not go together.

    method: None: it is to be chosen.
    """
    auto = method is None
    chosen = method_named(method or (BY_JUDGE if options["judges"] else FROM_TODAY[0]))
    asked = Asked(auto=auto, method=chosen, given=given, **options)
    if asked.labels is not None and (asked.tune or asked.vali is not None):
        raise DataError("--labels is for few labels, too few to choose parameters by: leave out --tune and --vali")
    check_overwrite(
        asked.out, asked.sources + [now for now in (asked.today,) if now is not None and is_model_file(now)]
    )
    if auto and (given or literal):
        name = "literal" if literal else next(iter(given))
        option = f"--{name.replace('_', '-')}" if name in OPTIONS else f"--set {name}"
        raise DataError(
            f"auto chooses the method, and {option} is of one of them: name it, such as --method RE-GR {option} ..."
        )
    if asked.judges:
        _check_judges(asked)
    many = is_many(asked.source)
    if many:
        asked.check_today_starts_something()
    if literal:
        asked = replace(asked, given=given | literal_options(chosen.ranker_class(), given))
    if asked.judge is not None:
        chooses = auto or many or asked.labels is not None or asked.tune or asked.vali is not None
        _check_judge(chosen.ranker_class(), chooses)
        asked = replace(asked, named=asked.named | {"judge": asked.judge})
    if many and asked.propensities is not None:
        raise DataError("--propensities is for clicks, which are learned from in memory: give one file, not a folder")
    if many and (asked.unjudged is not None or asked.judged_extra is not None):
        raise DataError("--unjudged and --judged-extra need the data in memory: give one file instead of a folder")
    check_unjudged(asked.unjudged)
    check_judged_extra(asked.judged_extra)
    if many and (asked.labels is not None or asked.tune or asked.vali is not None):
        raise DataError("--labels, --tune and --vali need the data in memory: give one file instead of a folder")
    return asked


def _check_judge(ranker_class: type[Ranker], chooses: bool) -> None:
    """Refuse judges for a ranker that has nothing to give them."""
    if chooses or not takes(ranker_class(), "fit", "judge"):
        raise DataError(
            "--judge gives every query and judge intercepts of their own, which only the method intercepts has: "
            "add --method intercepts, and leave out --labels, --tune and --vali"
        )


def _check_judges(asked: Asked) -> None:
    """Refuse judges of no labels, and what does not learn from judges."""
    if asked.labels is None:
        raise DataError(
            "--judges says which judges of --labels count besides people: add --labels; a column of DATA is --judge"
        )
    check_by_judge(asked.method.name, asked.judges)
    if asked.today is not None:
        raise DataError("--judges trains QI, which does not start from today's ranking: leave out --today or --judges")
