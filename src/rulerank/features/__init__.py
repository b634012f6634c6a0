"""Texts in, named features out: fields and their kinds, words, an index, candidates, and one number per feature.

`text_features.py` is the surface, `names.py` lists the features. Documents go through `fields.py` (what a field
holds), `analyser.py` and `grams.py` (words), `columns.py` (numbers, dates, kinds) into `index.py`; `documents.py`
lays them out. A query goes through `query.py`; `candidates.py` (loops: `candidate_kernels.py`) finds its documents,
`rows.py` which pairs to look at, `matching.py` (loops: `kernels.py`) one number a feature. `report.py` says what was
found, `saved.py` is what a file holds. The names below load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(__name__, {"text_features": ("TextFeatures",), "analyser": ("LANGUAGES",)})
