"""Imports go one way: from the command line down to the data set, never back."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "rulerank"
LAYERS = [  # a module may import from its own layer and from those below it in this list
    {"cli"},
    {"experiment", "judging", "export", "training"},
    {"rankers", "explain", "aggregate", "baselines", "sampling", "evaluation", "methods", "model_file"},
    {"ballots", "rules", "discretize", "io", "normalize", "worlds", "splitting"},
    {"render", "core", "dataset", "errors"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda p: str(p.relative_to(SRC)))
def test_imports_go_down(path):
    home = path.relative_to(SRC).parts[0].removesuffix(".py")
    if home in ("__init__", "__main__"):
        return
    assert home in RANK, f"{home} has no layer yet: add it to LAYERS"
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [
                f"{node.module}.{alias.name}" if node.module == "rulerank" else node.module for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            parts = module.split(".")
            if parts[0] == "rulerank" and len(parts) > 1 and parts[1] in RANK:
                assert RANK[parts[1]] >= RANK[home], f"{path.name} imports {module}, which lies above it"
