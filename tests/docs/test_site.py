"""The site has all there is: every page is in its menu, every public name and command in its reference."""

import re

import typer
import yaml

import rulerank as rr
from commands import commands_page
from document_blocks import ROOT
from rulerank.cli import app

DOCS = ROOT / "docs"
CODE = re.compile(r"^```.*?^```|^    .*?$", re.MULTILINE | re.DOTALL)
MADE = {"contributing.md", "changelog.md", "commands.md", "notebooks/judged-data.md", "notebooks/paper.md"}


def pages_of(nav) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in pages_of(entry)]


def test_every_page_is_in_the_menu_once():
    nav = pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert sorted(nav) == sorted(written | MADE)


def test_guides_are_short():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    guides = pages_of(next(part["User guide"] for part in nav if "User guide" in part))
    lengths = {page: len(CODE.sub("", (DOCS / page).read_text()).split()) for page in guides}
    assert len(guides) > 25
    assert not {page: length for page, length in lengths.items() if length > 900}


def test_every_public_name_is_in_the_reference_once():
    pages = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    named = re.findall(r"^::: (\S+)", pages, re.MULTILINE)
    lazy = [module for module in rr.MODULES if module not in ("discretize", "evaluation", "explain", "errors")]
    below = [f"{module}.{name}" for module in lazy for name in getattr(rr, module).__all__ if name not in rr.__all__]
    missing = [name for name in [*rr.__all__, *below] if f"rulerank.{name}" not in named]
    assert not missing, f"docs/reference lacks {missing}: add a line ::: rulerank.NAME to the page where one would look"
    assert len(named) == len(set(named))


def test_every_command_and_option_is_in_the_reference():
    page = commands_page()
    for name, command in typer.main.get_command(app).commands.items():
        section = page.partition(f"\n## rulerank {name}\n")[2].partition("\n## ")[0]
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
        assert all(option in section for option in options)
        assert f"rulerank {name}" in section.partition("```sh")[2]


def test_links_and_pictures_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target
