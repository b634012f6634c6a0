"""Experiments: many rankers, folds and label sets, run and laid out as tables and pictures."""
