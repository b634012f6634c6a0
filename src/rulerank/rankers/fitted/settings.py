"""How finely and how long to fit, by the number of rows: smooth between small data and large."""

from __future__ import annotations

from dataclasses import dataclass

from rulerank.rankers.fitted.bins import MAX_BINS

FEW_LABELS, FEW_QUERIES = 500, 15  # below either only a straight line is fitted: more would be noise
L2 = 10.0  # rows' worth of curvature that a vote is shrunken by
LINEAR_L2 = 100.0
LINEAR_ROWS = 100_000  # rows that a straight line is fitted to at most


@dataclass(frozen=True, slots=True)
class Settings:
    """What depends on the size of the data."""

    n_bins: int  # of a feature's own table
    pair_bins: int  # of each side of a pair's
    screen_bins: int
    n_leaves: int  # of the tree that a round adds
    rate: float  # share of its votes that is added
    min_rows: float  # in a leaf
    patience: int  # rounds
    tolerance: float  # share of the loss that counts as a gain within these rounds
    window_rows: int  # looked at in one round
    most_rounds: int

    @classmethod
    def of(cls, n_rows: int) -> Settings:
        """Return the settings for a number of rows.

        >>> Settings.of(10_000).n_bins, Settings.of(1_000_000).n_bins
        (64, 254)
        """
        much = min(max((n_rows / 50_000) ** 0.5, 1.0), 4.0)  # 1 up to 50,000 rows, 2 at 200,000, 4 at 800,000
        return cls(
            n_bins=min(MAX_BINS, round(64 * much)),
            pair_bins=round(16 * much**0.5),
            screen_bins=8,
            n_leaves=round(4 * min(much, 2.0)),
            rate=0.2 * min(much, 1.5),
            min_rows=min(20.0, max(3.0, n_rows / 50)),
            patience=50,
            tolerance=1e-6,
            window_rows=150_000,
            most_rounds=100_000,
        )
