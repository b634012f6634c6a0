"""Print the table that parameters were chosen from: the best settings, and the defaults beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulerank.cli.output import print_table
from rulerank.cli.parameters import as_word

if TYPE_CHECKING:
    from rulerank.training.tuning import Trial, Tuned

SHOWN = 10  # settings in print


def show_tuning(tuned: Tuned, defaults: dict[str, Any]) -> None:
    """Print the best settings and the defaults, the best first."""
    ranked = sorted(tuned.table, key=lambda trial: -trial.mean)
    best = ranked[:SHOWN]
    others = [trial for trial in ranked[SHOWN:] if is_default(trial, defaults)]
    print(
        f"\nchosen by {tuned.measure} in cross-validation by query, the best first; "
        "behind: mean difference to it ± standard error\n"
    )
    rows = [
        [
            *(as_word(trial.params[name]) for name in tuned.varied),
            f"{trial.mean:.4f}",
            f"{trial.behind:.4f} ± {trial.behind_error:.4f}",
            "defaults" if is_default(trial, defaults) else "",
        ]
        for trial in best + others
    ]
    print_table([*tuned.varied, tuned.measure, "behind", ""], rows, n_left=len(tuned.varied))
    more = " and the defaults" if others else ""
    print(f"the best {len(best)} of {len(tuned.table)} settings{more}; --json prints all\n")


def is_default(trial: Trial, defaults: dict[str, Any]) -> bool:
    return all(defaults[name] == value for name, value in trial.params.items())
