"""The four papers reproduced: their baselines, protocols, published figures, tables and pictures.

It stands beside the library and on it, and is not installed with it: `make papers DATA=...` runs it.

`systems.py` has everything that is run, `baselines/` the rankers that the papers compare with, `plans.py` and
`sampled.py` how a system ranks a fold. `published.py` (figures of `reference.csv`, read by `reference.py`),
`sampling_tables.py`, `competence_figures.py` and `report.py` make the sections that the report of `rulerank compare`
lacks; `letter.py` prints the table of docs/papers.md.
"""
