"""Rankers that fail as told; they lie here so that other processes can load them."""

import os

import numpy as np
from sklearn.base import BaseEstimator

from rulerank.errors import MissingExtraError


class OddError(Exception):
    """As other libraries have them: no ValueError."""


class First(BaseEstimator):
    """Ranks by the first feature, unless it is told to fail."""

    def __init__(self, fail=None, sign=1.0):
        self.fail = fail
        self.sign = sign

    def fit(self, X, y):
        if self.fail == "few" and len(X) < 50:
            raise OddError("all targets are equal")
        if self.fail == "badly":
            raise ValueError("no luck\ntoday")
        if self.fail == "package":
            raise MissingExtraError("compare", "lightgbm")
        if self.fail == "process":
            os._exit(9)  # as running out of memory does
        return self

    def predict(self, X):
        return self.sign * np.nan_to_num(X[:, 0])
