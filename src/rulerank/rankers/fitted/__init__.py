"""FittedRules: one fitted vote for every rule, under the likelihood of query intercepts.

`bins.py` cuts the axes, `training_folds.py` deals the queries, `gradient.py` and `trees.py` hold the loops of one round,
`rounds.py` the loop over rounds, `screening.py` finds pairs, `fit.py` puts them in order, `fitted_rules.py` is the class.
"""
