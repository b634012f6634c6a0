"""How often clicks talk one out of a ranking that is as good as it gets, and what that costs.

    RULERANK_DATA=FOLDER python benchmarks/leave_baseline.py OUT.json [SET ...]

As compare_clicks.py, but production learned from the grades of all training queries: a model of clicks can hardly be
better. Each line is one simulated log: whether `rr.select` leaves production for what it learned, and
NDCG@10 on test queries of production and of what it keeps.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from compare_clicks import MODELS, Cell, ndcg, simulate
from rulerank.io.files import write_bytes
from rulerank.selection.from_clicks import select_by_clicks

SETS = ("letor4-mq2008", "letor3-ohsumed")


def main() -> None:
    warnings.simplefilter("ignore")
    if len(sys.argv) < 2:
        sys.exit("name the file that keeps the figures: leave_baseline.py OUT.json")
    out = Path(sys.argv[1])
    found = json.loads(out.read_text()) if out.exists() else {}
    for fold in (1, 2, 3, 4, 5):
        for name in sys.argv[2:] or SETS:
            for n in (1_000, 3_000, 10_000):
                for model in MODELS:
                    cell = Cell(name, fold, model, 1.0, 0.5, n)
                    if str(cell) in found:
                        continue
                    log = simulate(cell, share=1.0)
                    learned = select_by_clicks(log.counted, baseline=log.production)
                    before, after = (ndcg(log.test, one.predict(log.test)) for one in (log.production, learned.ranker))
                    found[str(cell)] = {"left": not learned.facts["keep_baseline"], "production": before, "kept": after}
                    print(cell, found[str(cell)], flush=True)
                    write_bytes(out, json.dumps(found).encode())
    left = [one for one in found.values() if one["left"]]
    gains = [one["kept"] - one["production"] for one in left]
    print(f"left in {len(left)} of {len(found)} logs; NDCG@10 changed by {', '.join(f'{one:+.4f}' for one in gains)}")


if __name__ == "__main__":
    main()
