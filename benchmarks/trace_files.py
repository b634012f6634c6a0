"""Which of our files take part in what people do: train on a csv, rank, a request with reasons, one label.

Run it with `python benchmarks/trace_files.py`; with `-v` it names the files.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rulerank as rr

ROOT = Path(rr.__file__).parent


def files_touched(work: Callable[[], object]) -> list[str]:
    """Return our files of which a function was called, in this thread or another."""
    seen: set[str] = set()

    def look(frame: object, event: str, arg: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and code.co_name != "<module>":
            seen.add(code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # as its documentation has it
    ours = (Path(name) for name in seen)
    return sorted(str(path.relative_to(ROOT)) for path in ours if path.is_relative_to(ROOT))


def main() -> None:
    """Print how many files each takes part in."""
    options = sys.argv[1:]
    from starlette.testclient import TestClient

    from rulerank.cli import main as command
    from rulerank.judging.loop import Judging
    from rulerank.judging.pool import Pool
    from rulerank.judging.store import LabelStore
    from rulerank.judging.web.app import create_app as judging_app
    from rulerank.serve.web.app import create_app as service_app

    with tempfile.TemporaryDirectory() as folder:
        csv, model, run = (f"{folder}/{name}" for name in ("train.csv", "model.rulerank", "out.run"))
        data = rr.datasets.make_ranking(n_queries=20, n_features=6)
        rr.io.write_table(data, csv)

        def call(*words: str) -> None:
            sys.argv = ["rulerank", *words]
            try:
                command()
            except SystemExit as end:
                if end.code:
                    raise

        train = files_touched(lambda: call("train", csv, "-o", model))
        rank = files_touched(lambda: call("rank", csv, model, "-o", run))
        service = TestClient(service_app(rr.Reranker(rr.load(model))), "http://127.0.0.1")
        rows = [dict(zip(data.feature_names, row, strict=True)) for row in np.nan_to_num(data.X[:5]).tolist()]
        docs = [{"id": doc, "features": row} for doc, row in zip(data.docid, rows, strict=False)]
        body = {"documents": docs, "reasons": True}
        request = files_touched(lambda: service.post("/rank", json=body).raise_for_status())
        judging = Judging(Pool(data), LabelStore(f"{folder}/labels.db"), max_grade=2)
        page = TestClient(judging_app(judging, rater="ann"), "http://127.0.0.1")
        task = page.get("/api/next").raise_for_status().json()["task"]
        label = {"query": task["query"], "doc": task["doc"], "grade": 1}
        grade = files_touched(lambda: page.post("/api/labels", json=label).raise_for_status())
    for what, files in (("train", train), ("rank", rank), ("request with reasons", request), ("label", grade)):
        print(f"{what}: {len(files)} files" + (f": {' '.join(files)}" if "-v" in options else ""))


if __name__ == "__main__":
    main()
