"""The site's search finds the right page first: its index, weighted as the search box of the site weights it."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

from document_blocks import ROOT

pytest.importorskip("material", reason="needs the extra: docs")
TITLE = 1000  # the weight of a word in a title against one in the text
# what people type, and the page that they look for
WANTED = {
    "hyperparameter": "tuning.html",
    "cross-validation": "tuning.html",
    "active learning": "active-sampling.html",
    "explain": "explain.html",
    "SHAP": "explain.html",
    "position bias": "clicks.html",
    "embedding": "embeddings.html",
    "few labels": "few-labels.html",
    "interleaving": "interleaving.html",
    "OpenSearch": "export.html",
    "install": "install.html",
}


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Build the site, which fails on any warning, and read its index: a page or a section each."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "search" / "search_index.json").read_text())["docs"]


def words(text: str) -> list[str]:
    """Return the words of a text, without the endings that a stemmer removes first."""
    found = re.findall(r"\w+", re.sub(r"<[^>]+>", " ", text).lower())
    return [re.sub(r"(?<=\w{3})(?:s|ing|ation)$", "", word) for word in found]


def best_pages(entries: list[dict], query: str) -> list[str]:
    """Return pages, the best first: BM25 of titles and texts over the entries, the best entry of a page counts.

    Every word must be there, as in the search box. Long texts count less, and an entry's boost multiplies its score.
    """
    fields = [(words(entry["title"]), words(entry["text"])) for entry in entries]
    shares = Counter(word for title, text in fields for word in {*title, *text})
    lengths = [sum(len(field[kind]) for field in fields) / len(fields) for kind in (0, 1)]
    scores: dict[str, float] = defaultdict(float)
    for entry, field in zip(entries, fields, strict=True):
        total = 0.0
        for word in words(query):
            weights = [
                weight * part.count(word) * 2.2 / (part.count(word) + 1.2 * (0.25 + 0.75 * len(part) / length))
                for weight, part, length in zip((TITLE, 1), field, lengths, strict=True)
            ]
            if not any(weights):
                total = 0.0
                break
            total += math.log(1 + len(fields) / (0.5 + shares[word])) * sum(weights)
        page = entry["location"].partition("#")[0]
        is_page = "#" not in entry["location"]
        scores[page] = max(scores[page], total * entry.get("boost", 1) * (2 if is_page else 1))
    return sorted(scores, key=scores.__getitem__, reverse=True)


@pytest.mark.parametrize("query", WANTED)
def test_the_right_page_comes_first(entries, query):
    assert best_pages(entries, query)[0] == WANTED[query]


def test_the_index_has_every_part_of_the_site(entries):
    pages = {entry["location"].partition("#")[0] for entry in entries}
    assert {"index.html", "commands.html", "benchmarks/index.html", "reference/fitted-rules.html"} <= pages
