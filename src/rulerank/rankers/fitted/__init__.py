"""FittedRules: one fitted vote for every rule, under the likelihood of query intercepts.

`fitted_rules.py` is the class; `bins.py` puts rows in order and in bins; `stages.py` deals the queries to folds, has
what they learn one after the other, and makes tables of it; `boosting.py` and `trees.py` are the loops.
"""
