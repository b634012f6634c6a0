"""Every block of the docs is run, compared or said not to be; commands inside sentences exist."""

import re
import shlex
import shutil
import tomllib
from functools import cache

import pytest
import typer

import rulerank as rr
from document_blocks import PAGES, ROOT, Block, blocks_of
from document_reader import PASSED_OVER, Reader
from rulerank.cli import app

# blocks that nobody types here, by page and how they begin, each with the reason
NOT_RUN = {
    ("CONTRIBUTING.md", ".venv/bin/python -m pytest"): "it would run these tests inside themselves",
    ("docs/architecture.md", "texts --text"): "a drawing",
    ("docs/export.md", '{"id": "movie-12"'): "a line of a file",
    ("docs/fitted-rules.md", "score(document) ="): "a formula",
    ("docs/formats.md", "2 qid:10002"): "lines of a file",
    ("docs/judging.md", "   Think of the person"): "a file, which tests/judging reads",
    ("docs/papers.md", "make papers DATA="): "hours, with the real data; papers/tests run it on less",
    ("docs/scikit-learn.md", 'ranker.save("model'): "needs MLflow; the session below it goes the same steps",
    ("docs/scale.md", "from distributed import Client"): "a cluster; tests/scale has one",
    ("docs/serving.md", "from rulerank.serve.adapters."): "pipelines of others; tests/serve/adapters runs them",
}
# the road, not the figures: commands that would take minutes are typed with less to do
SMALLER = {
    "--splits 20": "--splits 2 --sizes 8,16",
    "compare OHSUMED/ -o report": "compare OHSUMED/ --jobs 1 -o report --method GlobalRules --method QI",
    "compare OHSUMED/ --method": "compare OHSUMED/ --jobs 1 -o other --method",
    "compare judged.csv --folds 5": "compare judged.csv --folds 3 --jobs 1 -o more",
}
# shop texts under the names that a page gives its own
SHOP = {"docs.jsonl": "documents.jsonl", "queries.tsv": "queries.tsv", "qrels.txt": "judgements.qrels"}
NAMED = {"docs/text-features.md": SHOP, "docs/embeddings.md": SHOP}
# followed from the first line to the last elsewhere; benchmarks take hours
OWN_TESTS = ("README.md", "docs/tutorials/", "docs/benchmarks/")
FOLLOWED = [page for page in PAGES if not page.relative_to(ROOT).as_posix().startswith(OWN_TESTS)]


def entry_of(block: Block) -> tuple[str, str] | None:
    """Return the entry of the table that says why a block is not run."""
    return next((key for key in NOT_RUN if key[0] == block.page and block.lines[0].startswith(key[1])), None)


def names_of(parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


@cache
def blocks() -> list[Block]:
    return [block for page in FOLLOWED for block in blocks_of(page)]


@cache
def typed() -> dict[str, list[Block]]:
    """Return the commands of each page that are typed, and the files that they use."""
    found = [block for block in blocks() if block.kind in ("shell", "file") and not entry_of(block)]
    return {block.page: [other for other in found if other.page == block.page] for block in found}


def test_every_block_is_run_or_stands_in_the_table_with_a_reason():
    odd = [block for block in blocks() if block.kind in ("other", "python") and not entry_of(block)]
    assert not odd, f"neither commands nor Python sessions, and not in NOT_RUN: {odd}"
    assert {entry_of(block) for block in blocks()} - {None} == set(NOT_RUN), "entries of NOT_RUN whose blocks are gone"


@pytest.mark.parametrize("page", sorted(typed()))
def test_the_commands_of_a_page_run(page, run, files, monkeypatch):
    for name, source in NAMED.get(page, {}).items():
        shutil.copy(files / "shop" / source, files / name)
    if page in ("docs/explain.md", "docs/release-page.md"):
        fold = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=100, seed=0))[0]
        rr.io.write_table(fold.test, files / "test.csv")
        rr.FittedRules().fit(fold.train).save(files / "model.rulerank")
    if page == "docs/llm-labels.md":  # a sample with the grades that a person would fill in
        sampled = (
            "--for-comparison",
            files / "new.run",
            "--baseline",
            "bm25",
            "--own-grades",
            "-o",
            files / "graded.csv",
        )
        run("sample", *map(str, (files / "pool.csv", *sampled)))
    reader = Reader(run, files, monkeypatch, SMALLER)
    reader.follow(typed()[page])
    n_commands = sum(len(block.commands) for block in typed()[page] if block.kind == "shell")
    assert reader.n_typed + reader.n_passed_over == n_commands > 0


def test_extras_and_make_targets_that_pages_name_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    makefile = (ROOT / "Makefile").read_text()
    shells, seen = [block for page in PAGES for block in blocks_of(page) if block.kind == "shell"], set()
    for page, command in [(block.page, command) for block in shells for command in block.commands]:
        first, *words = shlex.split(command, comments=True)
        if first == "pip":
            for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", " ".join(words)))):
                assert extra in project["optional-dependencies"], f"{page}: no extra {extra}"
        elif first == "make":
            assert re.search(rf"^{words[0]}:", makefile, re.MULTILINE), f"{page}: no target {words[0]}"
        seen.add(first)
    assert {"pip", "make"} <= seen & set(PASSED_OVER)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_options_inside_sentences_exist(page):
    commands = typer.main.get_command(app).commands
    for text in re.findall(r"`(rulerank [^`]*)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
        _, name, *words = re.split(r"\s+", text)
        if name in ("COMMAND", "--version") or re.fullmatch(r"[A-Z]+|\.\.\.", name):
            continue
        assert name in commands, f"{page.name}: {text}"
        known = {option for parameter in commands[name].params for option in names_of(parameter)} | {"--help"}
        for option in (word for word in words if re.match(r"--?[a-z]", word)):
            assert option.split("=")[0].rstrip(",.") in known, f"{page.name}: {name} has no option {option}: {text}"


def test_benchmarks_that_pages_name_exist():
    named = {name for page in PAGES for name in re.findall(r"benchmarks/(\w+\.py)", page.read_text())}
    assert len(named) > 10
    assert not [name for name in named if not (ROOT / "benchmarks" / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_names_inside_sentences_exist(page):
    for name in set(re.findall(r"\brr\.([A-Za-z_][\w.]*\w)", page.read_text())):
        found = rr
        for part in name.split("."):
            assert hasattr(found, part), f"{page.name}: there is no rr.{name}"
            found = getattr(found, part)
