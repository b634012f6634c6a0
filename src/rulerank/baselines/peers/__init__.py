"""Rankers that people would take instead of ours, each with the library that it needs (extra `peers`).

They are here to be compared with: they have fit and predict, and what they learned is neither saved nor explained.
"""
