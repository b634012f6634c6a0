"""Models as other systems read them."""

from rulerank.export.linear import export_model

__all__ = ["export_model"]
