"""What labels are worth: how good a ranker is after so many of them, by how they were chosen."""

from rulerank.experiment.label_curve.curve import label_curve

__all__ = ["label_curve"]
