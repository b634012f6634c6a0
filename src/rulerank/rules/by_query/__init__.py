"""Each training query's own rules, how competent they are for other queries' documents, and the trusted few.

`counts.py` with `kernels.py` is what each query says, `judged.py` which rows judge it, `trusted.py` the trusted
few; `most_competent.py` labels rows with queries, as the paper does (`labels.py`).
"""
