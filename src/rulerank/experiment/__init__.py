"""Experiments: systems over folds with a report, what labels are worth, and the demo.

`systems.py` names what can be run, `run.py` runs it on all cores and keeps what is finished, `report.py` makes figures,
tables and files of it; `compare.py` opens what is compared and does all of it. `label_curve.py` asks what labels are
worth, `demo.py` shows what the library is for.
"""
