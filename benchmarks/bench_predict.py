"""One query of 100 documents through predict of a loaded model, and the first score of a new process.

OHSUMED's fold 1 when RULERANK_DATA is set, else a synthetic synthetic.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
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
        print("RULERANK_DATA is not set: a synthetic synthetic instead of OHSUMED")
        data = rr.datasets.make_ranking(n_queries=100, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        model, query = Path(folder, "model.rulerank"), Path(folder, "query.npy")
        rr.GlobalRules().fit(data).save(model)
        np.save(query, data.X[:100])
        loaded = rr.load(model)
        print(f"model file: {model.stat().st_size / 1024:.0f} KiB, {data.X.shape[1]} features")
        for n in (100, 1):
            seconds = median_time(lambda n=n: loaded.predict(data.X[:n]), 101)
            print(f"{n:3} documents through predict: {seconds * 1e3:5.2f} ms{' (goal: 2)' if n > 1 else ''}")
        print(f"loading the model:             {median_time(lambda: rr.load(model), 21) * 1e3:.2f} ms")
        print("new processes, everything included:")
        for label, arguments in {
            "Python itself": ["-c", ""],
            "import rulerank (goal: 0.3 more)": ["-c", "import rulerank"],
            "rulerank --help (goal: 0.6)": ["-m", "rulerank", "--help"],
            "load and score one query (goal: 2)": ["-c", FIRST_SCORE, str(model), str(query)],
        }.items():
            call = [sys.executable, *arguments]
            seconds = median_time(lambda call=call: subprocess.run(call, check=True, stdout=subprocess.DEVNULL))
            print(f"  {label:36}{seconds:6.2f} s")


if __name__ == "__main__":
    main()
