"""Pictures of experiments, drawn with Matplotlib (the extra `figures`), which each function loads when it draws.

`comparison.py` draws how systems differ, `label_curve.py` quality against labels; `from_report.py` draws them from the
files of a report. The `draw_` functions write files, the others
return a Matplotlib figure.
"""
