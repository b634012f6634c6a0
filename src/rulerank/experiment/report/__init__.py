"""The report of an experiment: one page, rendered as HTML, Markdown and LaTeX, its figures as csv, its pictures as PDF.

`sections.py` puts the page of `render` together from the tables of `tables.py` and `trials.py` and the
pictures of `pictures.py`; `files.py` writes it.
"""

from rulerank.experiment.report.files import DRAWN, FORMATS, check_formats, write_files
from rulerank.experiment.report.sections import HEADLINE, make_report, write_report

__all__ = ["DRAWN", "FORMATS", "HEADLINE", "check_formats", "make_report", "write_files", "write_report"]
