"""Time and memory against the number of rows: ours from a folder of Parquet files, LightGBM beside them.

    python benchmarks/bench_scale.py --rows 10000 100000 1000000 --methods RE-GR RE-SR QI LightGBM --out scale.json
    python benchmarks/bench_scale.py --plot scale.json docs/scale.svg

Every cell is a process of its own, whose peak memory the system tells. Ours stream; LightGBM reads everything, into a
data set of its own bins (its 100 trees of 31 leaves are what users start with). Results are added to those in the file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from scale_data import write_parts

FOLDER = Path("/tmp/rulerank-scale")
METHODS = ("RE-GR", "RE-SR", "QI", "FR", "Regression", "LightGBM")


def train(method: str, folder: Path, memory: float) -> None:
    """Train once, in this process."""
    if method == "LightGBM":
        import lightgbm
        import numpy as np
        import polars as pl

        frame = pl.concat([pl.read_parquet(file) for file in sorted(folder.glob("*.parquet"))])
        _, sizes = np.unique(frame["qid"].to_numpy(), return_counts=True)
        X, y = frame.drop("qid", "grade").to_numpy(), frame["grade"].to_numpy()
        lightgbm.LGBMRanker(n_estimators=100, verbose=-1).fit(X, y, group=sizes)
        return
    import rulerank as rr
    from rulerank.methods import method_named

    ranker = method_named(method).ranker_class()()
    rr.scale.fit_partitions(ranker, folder, memory=memory)
    ranker.save(folder.parent / f"{method}.rulerank")


def measure(method: str, folder: Path, memory: float) -> dict[str, float]:
    """Train in a process of its own."""
    code = [sys.executable, __file__, "--train", method, str(folder), "--memory", str(memory)]
    start = time.perf_counter()
    subprocess.run(code, check=True)
    seconds = time.perf_counter() - start
    return {"seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--memory", type=float, default=1024)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--out", type=Path, default=Path("scale.json"))
    parser.add_argument("--train", nargs=2)
    parser.add_argument("--plot", nargs=2)
    given = parser.parse_args()
    if given.train:
        start = time.perf_counter()
        train(given.train[0], Path(given.train[1]), given.memory)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        found = {"method": given.train[0], "seconds": time.perf_counter() - start, "GiB": peak}
        (Path(given.train[1]).parent / "measured.json").write_text(json.dumps(found))
        return
    if given.plot:
        plot(json.loads(Path(given.plot[0]).read_text()), Path(given.plot[1]))
        return
    results = json.loads(given.out.read_text()) if given.out.exists() else []
    for n_rows in given.rows:
        folder = given.folder / f"rows-{n_rows}"
        if not folder.exists():
            write_parts(folder, n_rows)
        for method in given.methods:
            measure(method, folder, given.memory)
            found = json.loads((folder.parent / "measured.json").read_text())
            results = [one for one in results if (one["method"], one["rows"]) != (method, n_rows)]
            results.append(found | {"rows": n_rows})
            print(f"{method:12} {n_rows:>12,} rows {found['seconds']:8.1f} s {found['GiB']:6.2f} GiB", flush=True)
            given.out.write_text(json.dumps(results, indent=1))


def plot(results: list[dict[str, float | str]], target: Path) -> None:
    """Draw time and peak memory against rows."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for method in dict.fromkeys(str(one["method"]) for one in results):
        own = sorted((one["rows"], one["seconds"], one["GiB"]) for one in results if one["method"] == method)
        rows, seconds, memory = zip(*own, strict=True)
        axes[0].loglog(rows, seconds, marker="o", label=method)
        axes[1].loglog(rows, memory, marker="o", label=method)
    for axis, label in zip(axes, ("seconds", "GiB at the most"), strict=True):
        axis.set_xlabel("rows of 46 features")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    figure.savefig(target)


if __name__ == "__main__":
    main()
