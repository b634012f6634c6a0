"""Rankers whose score is a weighted sum of features, and the Newton solver behind the query intercepts."""
