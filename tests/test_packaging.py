"""What is built and published: everything the package needs is in the wheel, and its description stands alone."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from long_tests import long

ROOT = Path(__file__).parents[1]
pytest.importorskip("build", reason="needs the extra: release")
pytest.importorskip("hatch_fancy_pypi_readme", reason="needs the extra: release")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source distribution of a copy of what is published."""
    copy, out = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def test_the_wheel_alone_runs_commands_and_has_its_pages(built, tmp_path):
    zipfile.ZipFile(built[0]).extractall(tmp_path / "wheel")
    for data in ("py.typed", "render/page.css", "web/static", "judging/web/templates"):
        assert (tmp_path / "wheel" / "rulerank" / data).exists()
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "wheel")}
    code = "import rulerank, sys; print(rulerank.__file__); from rulerank.cli import main; main()"
    command = [sys.executable, "-c", code, "make-data", "synthetic.txt", "--queries", "5"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "wheel"))
    assert (tmp_path / "synthetic.txt").exists()


def test_the_description_needs_no_file_of_the_repository(built):
    wheel = zipfile.ZipFile(built[0])
    metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    described = email.message_from_bytes(wheel.read(metadata))
    text = described.get_payload()
    assert text.lstrip().startswith("# rulerank")
    assert not re.findall(r"\]\((?!https?:)", text), "links and pictures that an index cannot show"
    assert described["Author"] == "The rulerank maintainers"
    assert described["Project-URL"] is None
    assert described["Description-Content-Type"] == "text/markdown"


def test_the_source_distribution_leaves_the_bulk_of_docs_and_tests_out(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2].split("/")[0] for name in archive.getnames()}
    texts = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
    assert names - {""} <= texts | {"src", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert built[1].stat().st_size < 2_000_000


@long
def test_the_wheel_runs_in_an_empty_environment(built, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    programs = tmp_path / "empty" / "bin"
    install = [programs / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", built[0]]
    subprocess.run(install, check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    demo = [programs / "rulerank", "demo", "--queries", "40", "--json"]
    done = subprocess.run(demo, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "NDCG@10" in done.stdout
