"""FittedRules: one fitted vote for every rule, under the likelihood of query intercepts.

`fitted_rules.py` is the class; `bins.py` puts rows in order and in bins, and lays out tables over them; `boosting.py`
assigns the queries to folds, which learn one stage after the other; `trees.py` has the loops of a single tree.
"""
