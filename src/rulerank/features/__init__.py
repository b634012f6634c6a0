"""Texts in, named features out: fields and their kinds, words, an index, candidates, and one number per feature.

`text_features.py` is the surface, `names.py` lists the features. Documents go through `fields.py` (what a field holds)
and `analyser.py` (words and letters) into `index.py`. `candidates.py` says which pairs of query and document to look
at, `matching.py` (loops: `kernels.py`) computes one number a feature, `saved.py` is what a file holds. The names below
load when they are used.
"""

from rulerank.core import surface

__all__, __getattr__ = surface(__name__, {"text_features": ("TextFeatures",), "analyser": ("LANGUAGES",)})
