import os
import subprocess
import sys
from pathlib import Path

import rulerank


def test_mistakes_end_in_one_line(run, folder):
    for args, message in [
        (("loud", "query.rulerank", "test.txt", "-o", "map.png"), "unknown figure 'loud'; choose from effects"),
        (("effects", "query.rulerank", "test.txt", "-o", "map.gif"), "a figure is written as .png, .svg or .pdf"),
        (("effects", "none.rulerank", "test.txt", "-o", "map.png"), "there is no such file"),
    ]:
        done = run("figure", *args)
        assert done.code == 2
        assert done.err.startswith("error: ")
        assert message in done.err


def test_effects_are_drawn_for_a_model_and_documents(run, folder):
    done = run("figure", "effects", "model.rulerank", "test.txt", "-o", "effects.pdf")
    assert done == (0, "effects.pdf: effects of 96 documents\n", "")
    assert Path("effects.pdf").read_bytes().startswith(b"%PDF")


def test_a_score_that_is_no_sum_is_drawn_too(run, folder):
    assert run("figure", "effects", "query.rulerank", "test.txt", "-o", "effects.svg").code == 0
    assert Path("effects.svg").read_bytes().startswith(b"<?xml")


def test_another_process_draws_the_same_bytes(run, folder):
    arguments = ["figure", "effects", "model.rulerank", "test.txt", "-o"]
    run(*arguments, "a.svg")
    source = str(Path(rulerank.__file__).parent.parent)
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": source}
    command = [sys.executable, "-m", "rulerank", *arguments, "again.svg"]
    subprocess.run(command, check=True, capture_output=True, env=env)
    assert Path("again.svg").read_bytes() == Path("a.svg").read_bytes()
