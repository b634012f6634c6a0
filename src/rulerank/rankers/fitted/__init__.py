"""FittedRules: one fitted vote for every rule, under the likelihood of query intercepts.

`fitted_rules.py` is the class; `bins.py` puts rows in order and in bins; `stages.py` deals the queries to folds and has
what they learn one after the other; `terms.py` lays tables out before and makes the model after; `boosting.py` and
`trees.py` are the loops.
"""
