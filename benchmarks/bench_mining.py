"""Mine all one- and two-item rules with a grade: ours against pyfim's apriori with the grades as consequents.

Synthetic data: 60,000 rows, 46 features of 4 bins, each skewed and leaning on its neighbour, 3 grades.
"""

from __future__ import annotations

import time

import numpy as np

from rulerank.rules.layout import Layout
from rulerank.rules.tables import BinCounts, Counter, Counts, Rows
from timing import median_time

N_ROWS, N_FEATURES, N_BINS, N_GRADES = 60_000, 46, 4, 3


def main() -> None:
    bins, grades = make_bins()
    rows = Rows.of(bins, grades, np.zeros(N_ROWS, dtype=int))
    layout = Layout.over(BinCounts.of(rows).n_bins, max_size=2)
    counter = Counter(rows, expected=False)
    seconds = median_time(lambda: [counter.count(block) for block in layout.sets])
    ours = count_rules(layout, counter.over(layout))
    print(f"{N_ROWS:,} x {N_FEATURES} x {N_BINS} bins, {N_GRADES} grades, all antecedents of one and two items")
    print(f"rulerank  {seconds:8.3f} s   {len(ours):,} rules, counted into tables (pyfim makes a list of them)")
    try:
        from fim import arules
    except ImportError:
        print("pyfim is not installed: pip install 'rulerank[bench]'")
        return
    table = [
        [f * N_BINS + int(b) for f, b in enumerate(row)] + [-1 - int(g)] for row, g in zip(bins.T, grades, strict=True)
    ]
    appear = dict.fromkeys(range(N_FEATURES * N_BINS), "a") | {-1 - g: "c" for g in range(N_GRADES)}
    start = time.perf_counter()
    # -1: at least one row; conf 0: every rule; report a (rows of the rule) and x (rows of the antecedent)
    found = arules(table, supp=-1, conf=0, zmin=2, zmax=3, report="ax", mode="o", appear=appear)
    peer = time.perf_counter() - start
    theirs = {(tuple(sorted(body)), -1 - head): hits for head, body, hits, *_ in found if body}
    print(f"pyfim     {peer:8.3f} s   {len(theirs):,} rules (one run)")
    print(f"the same rules with the same counts: {ours == theirs}")
    print(f"rulerank is {peer / seconds:.0f} times faster (goal: 100)")


def make_bins() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(N_FEATURES, N_ROWS))
    latent[1:] += 0.7 * latent[:-1]
    bins = np.array([np.digitize(row, np.quantile(row, [0.4, 0.7, 0.9])) for row in latent])
    grades = np.digitize(latent[:5].mean(axis=0) + rng.normal(size=N_ROWS), [0.6, 1.4])
    return bins, grades


def count_rules(layout: Layout, counts: Counts) -> dict[tuple[tuple[int, ...], int], int]:
    """Return {(items, grade): hits} of every rule that holds in a row, items numbered feature * N_BINS + bin."""
    rules = {}
    for block in layout.sets:
        size = block.features.shape[1]
        for features, offset in zip(block.features.tolist(), block.offsets, strict=False):
            table = counts.grades[offset : offset + N_BINS**size].reshape((N_BINS,) * size + (N_GRADES,))
            for *cell, grade in zip(*np.nonzero(table), strict=True):
                items = tuple(f * N_BINS + int(b) for f, b in zip(features, cell, strict=True))
                rules[items, int(grade)] = int(table[(*cell, grade)])
    return rules


if __name__ == "__main__":
    main()
