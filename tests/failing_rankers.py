"""Rankers that fail as told; they lie here so that other processes can load them."""

import os

import numpy as np
from sklearn.base import BaseEstimator

from rulerank.errors import MissingExtraError


class First(BaseEstimator):
    """Ranks by the first feature, unless it is told to fail."""

    def __init__(self, fail=None, sign=1.0):
        self.fail = fail
        self.sign = sign

    def fit(self, X, y):
        if self.fail == "badly":
            raise ValueError("no luck\ntoday")
        if self.fail == "package":
            raise MissingExtraError("peers", "lightgbm")
        if self.fail == "process":
            os._exit(9)  # as running out of memory does
        return self

    def predict(self, X):
        return self.sign * np.nan_to_num(X[:, 0])
