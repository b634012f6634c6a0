"""Imports go one way between folders: the exact graph stands here, imports inside functions included.

A folder here is one below src/rulerank, or a file that lies there alone; judging/web and serve/web count by themselves.
"""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "rulerank"
BELOW = {"errors", "core", "shown", "recall_base", "dataset"}  # everything may stand on these
GRAPH = {  # folder: what it imports beside BELOW
    "aggregate": {"ballots", "discretize", "evaluation", "io", "methods", "normalize", "rankers", "rules", "splitting"},
    "ballots": {"rules"},
    "cli": {
        "aggregate",
        "clicks",
        "discretize",
        "evaluation",
        "experiment",
        "explain",
        "export",
        "features",
        "io",
        "judging",
        "judging.web",
        "methods",
        "model_file",
        "normalize",
        "rankers",
        "render",
        "rules",
        "sampling",
        "serve.web",
        "scale",
        "shop",
        "today",
        "training",
        "web",
        "worlds",
    },
    "clicks": {"io", "render"},
    "discretize": set(),
    "evaluation": {"io", "render"},
    "experiment": {
        "aggregate",
        "evaluation",
        "features",
        "io",
        "judging",
        "methods",
        "rankers",
        "render",
        "sampling",
        "shop",
        "today",
        "training",
        "worlds",
    },
    "explain": {"ballots", "rankers", "render", "rules", "today"},
    "export": {"rules"},
    "features": {"evaluation", "io"},
    "io": {"worlds"},
    "judging": {"io", "methods", "rankers", "render", "sampling", "today", "training"},
    "judging.web": {"judging", "methods", "web"},
    "methods": set(),
    "model_file": {"io", "methods", "rankers"},
    "normalize": set(),
    "rankers": {"ballots", "discretize", "evaluation", "io", "normalize", "render", "rules", "today"},
    "render": set(),
    "rules": set(),
    "sampling": {"discretize", "normalize", "today"},
    "scale": {"discretize", "evaluation", "io", "normalize", "rankers"},
    "serve": {"explain", "features", "io", "model_file", "rankers", "today"},
    "serve.web": {"clicks", "features", "io", "model_file", "rankers", "serve", "web"},
    "shop": {"io"},
    "splitting": set(),
    "today": set(),
    "training": {
        "discretize",
        "evaluation",
        "methods",
        "normalize",
        "rankers",
        "render",
        "splitting",
        "today",
    },
    "web": set(),
    "worlds": set(),
}
# What a value offers by name and finds in a folder above only when it is called: the one way up.
FACADE = {
    ("dataset.py", "render"),
    ("rankers/facade.py", "explain"),
    ("rankers/facade.py", "model_file"),
    ("rankers/base.py", "scale"),
    ("features/text_features.py", "model_file"),
    ("methods.py", "rankers"),
}
HELP = (
    "Imports go from the command line down to the data set (docs/architecture.md has the map). If the new import goes "
    "down, add it to GRAPH here; if it goes up, move what is needed to the lower folder, or hand it over as a value."
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


def found_graph():
    graph = {}
    for path in FILES:
        own = graph.setdefault(home(path), set())
        for name in imported(path):
            if name != home(path) and (path.relative_to(SRC).as_posix(), name) not in FACADE:
                own.add(name)
    return graph


def test_the_graph_of_folders_is_the_one_written_here():
    found = {name: uses - BELOW for name, uses in found_graph().items() if name not in BELOW}
    new = {f"{name} -> {one}" for name in found for one in found[name] - GRAPH.get(name, set())}
    gone = {f"{name} -> {one}" for name in GRAPH for one in GRAPH[name] - found.get(name, set())}
    assert not new, f"new imports between folders: {sorted(new)}. {HELP}"
    assert not gone, f"imports that are there no more: {sorted(gone)}. Take them out of GRAPH."
    assert set(GRAPH) == set(found)


def test_the_graph_has_no_cycle():
    order = list(TopologicalSorter(found_graph()).static_order())
    assert order[0] == "errors"
    assert order[-1] == "cli"


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
