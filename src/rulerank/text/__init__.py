"""Texts in, named features out: fields and their kinds, words, an index, candidates, and one number per feature.

`text_features.py` is the surface. Documents go through `fields.py` (what a field holds, and the names of its features)
and `analyser.py` (words and letters) into `index.py`. `candidates.py` chooses pairs of query and document,
`matching.py` (loops: `kernels.py`) computes one number per feature. The names below load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(__name__, {"text_features": ("TextFeatures",), "analyser": ("LANGUAGES",)})
