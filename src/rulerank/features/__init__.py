"""Texts in, named features out: fields and their kinds, words, an index, candidates, and one number per feature.

`TextFeatures` is the surface; `names.py` lists the features. The names below load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(__name__, {"text_features": ("TextFeatures",), "analyser": ("LANGUAGES",)})
