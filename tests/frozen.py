"""What version 0.1 made, frozen under tests/data/v0.1: a net under refactoring, held by test_frozen.py.

`first/` and `models/` hold models with their rows and scores, and `labels.db` a label store: they stay as they are.
`python tests/frozen.py` makes the rest anew. Run it only on code that is right: the tests then expect what it writes.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import shlex
import shutil
import sys
import tarfile
import tempfile
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

import numpy as np

import rulerank as rr
from rulerank.export import TARGETS

FROZEN = Path(__file__).parent / "data" / "v0.1"

# run in a folder with the files of files.tar.gz, each line in its own copy, with --json
COMMANDS = """
    demo --queries 12
    make-data new.txt --queries 5
    features docs.jsonl queries.tsv --qrels qrels.txt --top 10 -o new.parquet --keep new.rulerank
    convert train.txt new.parquet
    convert q7.json new.parquet --qrels judged.qrels
    clicks log.parquet pool.csv -o new.parquet
    judge pool.csv --rater ann --overlap 10%
    sample pool.csv --baseline bm25_body -n 5
    sample train.txt --sampler ssar -n 5
    sample train.txt --baseline f1 --own-grades -n 20 -o new.csv
    sample train.txt --sampler ssar:partitions=5 --own-grades -n 1000 -o new.txt
    labels labels.db
    labels labels.db -o new.qrels
    labels labels.db -o new.csv --combine none
    labels judged.db --import llm.csv --rater gpt --kind llm
    labels labels.db --disputes
    labels labels.db --agreement
    train train.txt --method RE-GR -o new.rulerank
    train train.txt vali.txt --tune --method QI --set missing=mean -o new.rulerank
    train pool.csv --labels graded.csv --baseline bm25_body -o new.rulerank
    train pool.csv --labels each.csv --raters gpt -o new.rulerank
    train parts -o new.rulerank --method RE-GR
    methods FR
    evaluate test.txt scores.txt -m NDCG@10 -m MAP --convention letor3
    evaluate test.csv one.run scores.txt --compare
    evaluate --qrels qrels.txt one.run two.run -m MAP -m P@5
    compare test.csv --folds 3 --method RE-GR --method QI --run engine=one.run --jobs 1
    check train.txt model.rulerank --baseline f1 --own-grades
    label-curve train.txt --baseline f1 --splits 3 --sizes 10,20 --method QI --sampler strata
    fuse one.run two.run --method rrf
    interleave --clicks teams.csv
    rank test.txt model.rulerank
    explain test.txt model.rulerank --query q1 --doc q1-d3
    explain test.txt model.rulerank --query q1 --doc q1-d3 --versus q1-d5 --what-if
    explain test.txt model.rulerank --query q1 --baseline f3
    explain test.txt query.rulerank --query q1 --doc q1-d3
    explain linear.csv linear.rulerank --doc q1-d3
    explain test.txt model.rulerank
    explain test.txt model.rulerank -o new.svg
    export model.rulerank --to opensearch-ltr --feature-set movies -o new.json
    export model.rulerank --check scored.jsonl
"""

CHANGING = re.compile(r"second|time|version|since|date|token|identity|digest|pid|bytes")  # keys of values that change
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
ADDRESS = re.compile(r"127\.0\.0\.1:\d+")


def make() -> None:
    """Write anew what the code makes now."""
    write_json(FROZEN / "exports.json.gz", {name: exports(name) for name in read_json("models/scores.json")})
    (FROZEN / "postgres.sql").write_text(postgres_schema())
    make_files(FROZEN / "files.tar.gz")
    write_json(FROZEN / "openapi-judging.json", judging_api())
    write_json(FROZEN / "openapi-service.json", service_api())
    lines = map(str.strip, COMMANDS.strip().split("\n"))
    write_json(FROZEN / "commands.json", {line: output_of(line) for line in lines})
    print(f"{sum(file.stat().st_size for file in FROZEN.rglob('*') if file.is_file()):,} bytes in {FROZEN}")


def exports(name: str) -> dict[str, object]:
    """Return a frozen model as each target reads it; nothing where it cannot be exported."""
    ranker, made = rr.load(FROZEN / "models" / f"{name}.rulerank"), {}
    for target in TARGETS:
        try:
            export = rr.export_model(ranker, target)
        except rr.errors.DataError:
            continue
        known = export.document
        known = base64.b64encode(known).decode() if isinstance(known, bytes) else known
        made[target] = steady(asdict(export) | {"document": known})
    return made


def facts(path: Path) -> dict[str, object]:
    """Return all that a label store knows."""
    from rulerank.judging.labels import Order, RaterKind, Setting
    from rulerank.judging.store import LabelStore

    with LabelStore(path) as store:
        found = {
            "labels": store.labels(),
            "history": store.history(),
            "decisions": store.decisions(),
            "orders": [one for one in store.history_of(Order) if one.withdrawn is one.superseded_by is None],
            "rater_kinds": store.history_of(RaterKind),
            "setting_history": store.history_of(Setting),
            "skips": store.skips(),
        }
        known: dict[str, object] = {kind: [plain(one) for one in each] for kind, each in found.items()}
        return known | {"last_check": plain(store.last_check()), "other_raters": store.other_raters()}


def plain(fact: object) -> object:
    """Return a fact of the store as JSON has it, by the names of its fields."""
    if fact is None:
        return None
    values = fact._asdict() if hasattr(fact, "_asdict") else asdict(fact)
    return json.loads(json.dumps(values, default=str))


def postgres_schema() -> str:
    """Return what makes an empty label store on PostgreSQL, without its version."""
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateIndex, CreateTable

    from rulerank.judging.schema import METADATA

    tables = METADATA.sorted_tables
    made = [CreateTable(table) for table in tables]
    made += [CreateIndex(one) for table in tables for one in sorted(table.indexes, key=lambda i: i.name)]
    return "".join(str(one.compile(dialect=postgresql.dialect())).strip() + ";\n\n" for one in made)


def make_files(path: Path) -> None:
    """Pack the small files that the commands' tests are made of, without what changes from day to day."""
    sys.path.insert(0, str(Path(__file__).parent / "cli"))
    from conftest import write_files

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_files()
        rr.io.write_table(rr.datasets.make_ranking(n_queries=12, n_features=3), "linear.csv")
        shutil.copy(FROZEN / "labels.db", "labels.db")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for file in sorted(Path().rglob("*")):
                if file.is_file():
                    about = tarfile.TarInfo(str(file))
                    about.size = file.stat().st_size
                    tar.addfile(about, io.BytesIO(file.read_bytes()))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def unpack(folder: Path) -> None:
    with tarfile.open(FROZEN / "files.tar.gz") as tar:
        tar.extractall(folder, filter="data")


def judging_api() -> object:
    """Return how the judging page describes its API."""
    from starlette.testclient import TestClient

    from rulerank.judging.loop import Judging
    from rulerank.judging.pool import Pool
    from rulerank.judging.store import LabelStore
    from rulerank.judging.web.app import create_app

    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder) / "labels.db") as store:
        rows = rr.read_table(FROZEN / "models" / "rows.csv")
        app = create_app(Judging(Pool(rows), store, max_grade=2))
        return steady(TestClient(app, "http://127.0.0.1").get("/openapi.json").json())


def service_api() -> object:
    """Return how the service describes its API."""
    from starlette.testclient import TestClient

    from rulerank.serve.web.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        unpack(Path(folder))
        reranker = rr.Reranker(rr.load(Path(folder) / "shop.rulerank"), rr.load(Path(folder) / "text.rulerank"))
        return steady(TestClient(create_app(reranker), "http://127.0.0.1").get("/openapi.json").json())


def output_of(line: str) -> dict[str, object]:
    """Run a command in a folder of its own, and return its exit code and what it prints, as values."""
    from rulerank.cli import main

    out, err = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        unpack(folder)
        stack.enter_context(chdir(folder))
        for stopped in ("serve.web.workers.run", "web.server.serve", "web.server.open_page"):
            stack.enter_context(patch(f"rulerank.{stopped}", return_value=0))
        stack.enter_context(patch.object(sys, "argv", ["rulerank", *shlex.split(line), "--json"]))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    printed = out.getvalue()
    try:
        values = json.loads(printed)
    except ValueError:
        values = [json.loads(one) if one.startswith(("{", "[")) else one for one in printed.splitlines()]
    return {"code": code, "json": steady(values, folder)} | ({"stderr": err.getvalue()} if code else {})


def steady(value: object, folder: Path | None = None) -> object:
    """Return a value without what changes from run to run: times, versions, addresses, folders."""
    if isinstance(value, dict):
        changing = {key for key, one in value.items() if CHANGING.search(key) and isinstance(one, int | float | str)}
        return {key: type(one).__name__ if key in changing else steady(one, folder) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [steady(one, folder) for one in value]
    if isinstance(value, str):
        value = value.replace(f"{folder}/", "").replace(str(folder), ".") if folder else value
        return ADDRESS.sub("ADDRESS", TIME.sub("TIME", value.replace(rr.__version__, "VERSION")))
    return value


def differences(old: object, new: object, where: str = "$") -> list[str]:
    """Say where two values differ; numbers may by as much as processors that add in another order make them."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = [f"{where}.{key}: {'missing' if key in old else 'new'}" for key in old.keys() ^ new.keys()]
        both = [differences(old[key], new[key], f"{where}.{key}") for key in old if key in new]
        return [*sorted(lines), *(line for each in both for line in each)]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where}: {len(old)} values, now {len(new)}"]
        pairs = enumerate(zip(old, new, strict=True))
        return [line for place, (one, other) in pairs for line in differences(one, other, f"{where}[{place}]")]
    if isinstance(old, float) and isinstance(new, int | float):
        return [] if np.isclose(old, new, rtol=1e-6, atol=1e-9, equal_nan=True) else [f"{where}: {old}, now {new}"]
    return [] if old == new else [f"{where}: {old!r}, now {new!r}"]


def write_json(path: Path, value: object) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())


def read_json(name: str) -> dict:
    path = FROZEN / name
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


if __name__ == "__main__":
    make()
