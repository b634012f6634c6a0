"""Experiments: many rankers, folds and label sets, run and laid out as tables and pictures.

`systems.py` names what can be run, `plans.py` says how each ranks a fold. `run.py` runs them on all cores, `cells.py`
keeps what is finished. `summary.py` makes the figures, `report.py` and `figures.py` show them; `compare.py` opens
what is compared and does all of it. `label_curve/` asks what labels are worth, `demo.py` shows what the
library is for. The names below load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "run": (
            "run_experiment",
            "Experiment",
        ),
        "systems": (
            "SYSTEMS",
            "System",
            "choose_systems",
        ),
        "summary": (
            "summarise",
            "Summary",
        ),
        "compare": ("compare_folds",),
        "label_curve.result": ("LabelCurve",),
        "label_curve.simulation": ("thin",),
        "demo": ("run_demo",),
    },
)
