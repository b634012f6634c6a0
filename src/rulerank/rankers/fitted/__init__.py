"""FittedRules: one fitted vote for every rule, under the likelihood of query intercepts.

`fitted_rules.py` is the class, `fit.py` puts the stages in order: `row_views.py` puts rows in order and in bins, whose
axes `bins.py` cuts, `training_folds.py` deals the queries, `linear_start.py` is where the rounds begin, `rounds.py` is
the loop over them with those of `gradient.py` and `trees.py`, `screening.py` finds pairs, `terms.py` and `tables.py`
lay votes out before and after.
"""
