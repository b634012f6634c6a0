"""What each command needs: labels in files need no extra, a store needs SQLAlchemy alone, the page all of it."""

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules |= dict.fromkeys(sys.argv.pop(1).split(',')); from rulerank.cli import main; main()"
PAGE = "starlette,uvicorn,jinja2"


def run_without(packages, line):
    words = [sys.executable, "-c", WITHOUT, packages, *line.split()]
    return subprocess.run(words, capture_output=True, text=True, check=False)


DOES_WITHOUT = [
    (PAGE, "train pool.csv --labels judged.db -o few.rulerank"),
    (PAGE, "labels judged.db -o judged.qrels"),
    (f"{PAGE},sqlalchemy", "sample train.txt --baseline f1 -n 3"),
    (f"{PAGE},sqlalchemy", "sample train.txt --baseline f1 --own-grades -n 3 -o few.csv"),
    (f"{PAGE},sqlalchemy", "train pool.csv --labels graded.csv -o few.rulerank"),
]


@pytest.mark.parametrize(("packages", "line"), DOES_WITHOUT)
def test_a_command_needs_only_what_it_uses(folder, packages, line):
    done = run_without(packages, line)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr


def test_a_store_without_its_package_says_what_to_install(folder):
    done = run_without("sqlalchemy", "labels judged.db")
    assert done.returncode == 2
    assert done.stderr.startswith("error: this needs SQLAlchemy, which is not installed; install it with: pip install")
