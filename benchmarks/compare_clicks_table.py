"""Tables of what `compare_clicks.py` found: NDCG@10 over all test queries, and how sure the differences are.

    python benchmarks/compare_clicks_table.py OUT.json [MORE.json ...] [--variants]

A figure is the mean over the test queries of all finished folds; a difference has a 95 % interval over queries,
paired. `--variants` prints the other ways to learn beside the main ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rulerank._util.parameters import Array

OURS = ("intercepts",)
LIBRARIES = ("LightGBM, position", "XGBoost, unbiased")
TRUE = {"intercepts": "true grades, all"}
COLUMNS = ("production", *OURS, *LIBRARIES, *TRUE.values())
VARIANTS = ("intercepts", "intercepts, without", "intercepts, known", "intercepts, nobody leaves", "true grades, shown")

Cells = dict[str, list[dict[str, Any]]]


def read(paths: list[str]) -> Cells:
    """Return the folds of each cell, by everything but the fold."""
    groups: Cells = {}
    for path in paths:
        for name, methods in json.loads(Path(path).read_text()).items():
            words = name.split()
            groups.setdefault(" ".join([words[0], *words[2:]]), []).append(methods)
    return groups


def values(folds: list[dict[str, Any]], method: str) -> Array | None:
    """Return NDCG@10 of each test query; None where a fold is not finished."""
    if any(method not in fold for fold in folds):
        return None
    return np.concatenate([fold[method]["queries"] for fold in folds])


def difference(folds: list[dict[str, Any]], one: str, other: str) -> tuple[float, float] | None:
    """Return the mean difference of two methods and the half-width of its 95 % interval over queries."""
    first, second = values(folds, one), values(folds, other)
    if first is None or second is None:
        return None
    gains = first - second
    return float(gains.mean()), float(1.96 * gains.std(ddof=1) / np.sqrt(gains.size))


def table(groups: Cells, columns: tuple[str, ...]) -> None:
    """Print the means."""
    print(f"| log | folds | {' | '.join(columns)} |\n| --- | ---: |{' ---: |' * len(columns)}")
    for name, folds in groups.items():
        whole = [fold for fold in folds if all(one in fold for one in columns)]
        if whole:
            found = [values(whole, one) for one in columns]
            cells = [f"{one.mean():.4f}"[1:] for one in found if one is not None]
            print(f"| {name} | {len(whole)} | {' | '.join(cells)} |")


def differences(groups: Cells) -> None:
    """Print ours against each peer, and against true grades."""
    for one in OURS:
        for other in (*LIBRARIES, TRUE[one], "production"):
            print(f"\n{one} - {other}:")
            below = clearly = cells = 0
            for name, folds in groups.items():
                whole = [fold for fold in folds if one in fold and other in fold]
                found = difference(whole, one, other) if whole else None
                if found is None:
                    continue
                cells, below = cells + 1, below + (found[0] < 0)
                clearly += found[0] + found[1] < 0
                print(f"  {name}: {found[0]:+.4f} +- {found[1]:.4f}")
            print(f"  below in {below} of {cells} cells, clearly (95 %) in {clearly}")


def safeguard(groups: Cells) -> None:
    """Print how often `train` kept production, and what that gave up or prevented."""
    print("\nkept production, of folds; NDCG@10 gained by the model that was not taken, and by the one that was:")
    for name, folds in groups.items():
        own = [fold for fold in folds if "trained" in fold]
        if own:
            kept = [fold for fold in own if fold["trained"]["kept"]]
            given_up = [fold["intercepts"]["NDCG@10"] - fold["production"]["NDCG@10"] for fold in kept]
            left = [fold["trained"]["NDCG@10"] - fold["production"]["NDCG@10"] for fold in own if fold not in kept]
            said = [", ".join(f"{one:+.4f}" for one in some) or "-" for some in (given_up, left)]
            print(f"  {name}: {len(kept)} of {len(own)}; intercepts would have gained {said[0]}; gained {said[1]}")


def main() -> None:
    paths = [one for one in sys.argv[1:] if not one.startswith("--")]
    if not paths:
        sys.exit("name what compare_clicks.py wrote: compare_clicks_table.py OUT.json")
    groups = read(paths)
    table(groups, VARIANTS if "--variants" in sys.argv else COLUMNS)
    if "--variants" not in sys.argv:
        differences(groups)
        safeguard(groups)


if __name__ == "__main__":
    main()
