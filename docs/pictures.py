"""Draw the pictures of the README and the docs from real output: python docs/pictures.py

Those of the label-efficiency curves are drawn when RULERANK_DATA names the folder with the LETOR sets.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

# Rich's own frame loads a font from a server; a picture in a repo should not
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main() -> None:
    draw_demo()
    draw_curves()
    draw_tables()
    draw_ranking()
    if os.environ.get("RULERANK_DATA"):
        draw_gains(Path(os.environ["RULERANK_DATA"]))


def draw_demo() -> None:
    """Show what `rulerank demo` prints."""
    demo = subprocess.run([sys.executable, "-m", "rulerank", "demo"], capture_output=True, text=True, check=True)
    console = Console(record=True, width=124, file=io.StringIO())
    console.print(Text("$ rulerank demo", style="bold"))
    console.print(Text(demo.stdout))
    picture = console.export_svg(title="rulerank", theme=MONOKAI, code_format=FRAME, unique_id="demo")
    Path(__file__).with_name("demo.svg").write_text(picture)


def draw_tables() -> None:
    """Draw the curves of fitted-rules.md."""
    import matplotlib

    import rulerank as rr
    from rulerank.explain.figures import curves_figure

    data = rr.datasets.make_ranking(n_queries=400, seed=1)
    curves = curves_figure(rr.FittedRules().fit(data).curves(data, most=6))
    with matplotlib.rc_context({"svg.hashsalt": "fitted-rules", "svg.fonttype": "none"}):
        curves.savefig(Path(__file__).with_name("fitted-rules-curves.svg"), metadata={"Date": None})


def draw_ranking() -> None:
    """Draw explanation-reports.md: curves of the shop's features, and with a browser the ranking of a query."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        for command in (
            "make-data shop --texts",
            "features shop/documents.jsonl shop/queries.tsv --qrels shop/judgements.qrels -o shop.parquet",
            "train shop.parquet --method FittedRules -o shop.rulerank",
            f"explain shop.parquet shop.rulerank -o {Path(__file__).resolve().with_name('shop-curves.svg')}",
            "explain shop.parquet shop.rulerank --query q9 -o ranking.html",
        ):
            subprocess.run([sys.executable, "-m", "rulerank", *command.split()], check=True, cwd=folder)
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1180, "height": 1300}, color_scheme="light")
            page.goto(f"file://{folder}/ranking.html")
            page.screenshot(path=Path(__file__).with_name("ranking.png"))
            browser.close()


def draw_curves() -> None:
    """Draw the curves of the model that explain.md walks through."""
    import matplotlib

    import rulerank as rr
    from rulerank.explain.figures import curves_figure

    fold = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=100, seed=0))[0]
    ranker = rr.FittedRules().fit(fold.train)
    with matplotlib.rc_context({"svg.hashsalt": "explain"}):  # the same ids in every run
        curves = curves_figure(ranker.curves(fold.test, most=3))
        curves.savefig(Path(__file__).with_name("explain-curves.svg"), metadata={"Date": None})


def draw_gains(folder: Path) -> None:
    """Draw the gains of few-labels.md, for the LETOR sets; those of texts come from the command that stands there."""
    for name, baseline in (("letor3-ohsumed", "f41"), ("letor4-mq2008", "f25")):
        target = Path(__file__).with_name(f"few-labels-{name.partition('-')[2]}.svg")
        command = ["rulerank", "curve", str(folder / name), "--baseline", baseline, "--splits", "20", "-o", str(target)]
        subprocess.run([sys.executable, "-m", *command], check=True)


if __name__ == "__main__":
    main()
