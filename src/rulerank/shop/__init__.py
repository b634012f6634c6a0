"""A synthetic shop with texts: products, queries, and the true grade of every pair. The names load when used."""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(__name__, {"shop": ("Shop", "make_shop", "write_shop")})
