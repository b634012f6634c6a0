"""Experiments: compare systems over folds with a report, label curves, and the demo.

`systems.py` lists the systems, `run.py` runs them over folds on all cores and caches finished results, `report.py`
tests differences and writes tables and files; `compare.py` does all of this for files. `curve.py` simulates labelling,
`demo.py` is the end-to-end demo.
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
