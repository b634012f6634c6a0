"""Imports go one way between folders: a line of LAYERS imports only lines above it, inside functions too.

A folder here is one below src/rulerank, or a file that lies there alone; judging/web and serve/web count by themselves.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "rulerank"
LAYERS = """
    errors
    _util
    recall_base
    dataset
    discretize methods normalize render rules web
    baseline
    export io sampling
    datasets evaluation text
    clicks rankers
    fusion model_file scale selection
    explain judging
    experiment judging.web serve
    serve.web
    cli
"""
DEPTH = {name: depth for depth, line in enumerate(LAYERS.strip().splitlines()) for name in line.split()}
# What a value offers by name and finds in a folder above only when it is called: the one way up.
FACADE = {
    "rankers/base.py": ["explain", "model_file", "scale"],
    "text/text_features.py": ["model_file"],
    "methods.py": ["rankers"],
    "baseline.py": ["io", "model_file", "rankers"],
}
HELP = (
    "Imports go from the command line down to the data set (docs/architecture.md has the map), which is up in LAYERS. "
    "Move what is needed to the lower folder, or hand it over as a value."
)
FILES = sorted(path for path in SRC.rglob("*.py") if path.parent != SRC or path.stem not in ("__init__", "__main__"))


def folder(parts):
    return f"{parts[0]}.web" if parts[0] in ("judging", "serve") and parts[1:2] == ("web",) else parts[0]


def home(path):
    return folder(path.relative_to(SRC).with_suffix("").parts)


def imported(path):
    """Yield the folders that a file imports from, its own among them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rulerank":
            names = [(*node.module.split(".")[1:], alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")[1:]) for alias in node.names if alias.name.startswith("rulerank.")]
        else:
            continue
        yield from (folder(parts) for parts in names if parts and parts[0] != "__version__")


def test_a_folder_imports_only_folders_of_lines_above_its_own():
    wrong = {
        f"{path.relative_to(SRC)} imports {name}"
        for path in FILES
        for name in imported(path)
        if name != home(path) and name not in FACADE.get(path.relative_to(SRC).as_posix(), ())
        if DEPTH[name] >= DEPTH[home(path)]
    }
    assert not wrong, f"{sorted(wrong)}. {HELP}"


def test_every_folder_has_its_line():
    assert set(DEPTH) == {home(path) for path in FILES}


def test_the_map_names_every_folder_and_nothing_that_is_not_there():
    root = SRC.parent.parent
    named = re.findall(r"`([a-z_./]+(?:\.py|\.md|/))`", (root / "docs" / "architecture.md").read_text())
    assert [name for name in named if not ((SRC / name).exists() or (root / name).exists())] == []
    assert {name.rstrip("/").removesuffix(".py") for name in named} >= {name.split(".")[0] for name in DEPTH}


def private(name):
    return name.startswith("_") and not name.startswith("__")


def defined_in(paths):
    """Return the private names that some files define: functions, classes, attributes, module variables."""
    names = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


OTHERS = {"_replace", "_fields", "_asdict", "_exit"}  # of named tuples and of os, public in spite of their names


@pytest.mark.parametrize("name", sorted({home(path) for path in FILES}))
def test_no_folder_reads_the_private_names_of_another(name):
    paths = [path for path in FILES if home(path) == name]
    own = defined_in(paths) | OTHERS
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and private(node.attr):
                of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                of_super = isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"
                inherits = of_self or of_super  # what a base class offers to its own
                assert inherits or node.attr in own, f"{path.relative_to(SRC)}:{node.lineno} reads {node.attr}"
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rulerank."):
                for alias in node.names:
                    elsewhere = folder(tuple(node.module.split(".")[1:])) != name
                    assert not (elsewhere and private(alias.name)), f"{path.relative_to(SRC)} imports {alias.name}"


def loaded_by(folder, *commands):
    """Return the modules that a process has loaded after these commands, or stop at the first that fails."""
    calls = "; ".join(f"app({command.split()!r}, standalone_mode=False)" for command in commands)
    code = f"import sys; from rulerank.cli import app; {calls}; print(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return {*done.stdout.splitlines()[-1].split()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    rows = ["qid,docid,grade,bm25,b", *(f"q{n // 4},d{n},{n % 2},{n % 7},{n % 3}" for n in range(40))]
    (folder / "train.csv").write_text("\n".join(rows))
    return folder, loaded_by(folder, "train train.csv -o m.rulerank --method RE-GR")


def test_a_plain_train_loads_nothing_of_pages_parts_services_or_clicks(trained):
    loaded = {name.split(".")[1] for name in trained[1] if name.startswith("rulerank.")}
    assert not loaded & {"judging", "scale", "serve", "clicks"}


def test_commands_that_people_wait_for_load_neither_scikit_learn_nor_pandas(trained):
    commands = (
        "rank train.csv m.rulerank",
        "explain train.csv m.rulerank --query q1",
        "rank train.csv m.rulerank -o scores.txt",
        "evaluate train.csv scores.txt",
        "sample train.csv -n 5",
    )
    assert not loaded_by(trained[0], *commands) & {"sklearn", "pandas", "scipy.stats", "scipy.optimize"}
