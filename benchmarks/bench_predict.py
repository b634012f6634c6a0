"""One query of 100 documents through predict of a loaded model, and the first score of a new process.

OHSUMED's fold 1 when RULERANK_DATA is set, else a synthetic world.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import rulerank as rr
from timing import median_time

FIRST_SCORE = """
import sys, rulerank as rr
import numpy as np
rr.load(sys.argv[1]).predict(np.load(sys.argv[2]))
"""


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        data = rr.read_letor(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1/train.txt")
    else:
        print("RULERANK_DATA is not set: a synthetic world instead of OHSUMED")
        data = rr.make_world(n_queries=100, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        model, query = Path(folder, "model.rulerank"), Path(folder, "query.npy")
        rr.GlobalRules().fit(data).save(model)
        np.save(query, data.X[:100])
        loaded = rr.load(model)
        print(f"model file: {model.stat().st_size / 1024:.0f} KiB, {data.X.shape[1]} features")
        print(f"100 documents through predict: {median_time(lambda: loaded.predict(data.X[:100]), 101) * 1e3:.2f} ms")
        print(f"one document through predict:  {median_time(lambda: loaded.predict(data.X[:1]), 101) * 1e3:.2f} ms")
        print(f"loading the model:             {median_time(lambda: rr.load(model), 21) * 1e3:.2f} ms")
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", FIRST_SCORE, model, query], check=True)
            times.append(time.perf_counter() - start)
        print(f"a new process reaches its first score in {sorted(times)[2]:.2f} s (imports, load, predict; goal: 2)")


if __name__ == "__main__":
    main()
