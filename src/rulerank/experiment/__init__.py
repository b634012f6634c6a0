"""Experiments: systems over folds with a report, what labels are worth, and the demo.

`systems.py` names what can be run, `run.py` runs it on all cores and keeps what is finished, `report.py` makes figures,
tables and files of it; `compare.py` opens what is compared and does all of it. `curve.py` asks what labels are
worth, `demo.py` shows what the library is for.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.experiment.run import Experiment as Experiment, run_experiment as run_experiment
    from rulerank.experiment.report import write_report as write_report
    from rulerank.experiment.curve import LabelCurve as LabelCurve, label_curve as label_curve

__all__, __getattr__ = surface(
    __name__,
    {"run": ("Experiment", "run_experiment"), "report": ("write_report",), "curve": ("LabelCurve", "label_curve")},
)
