"""The page's own numbers, run by node: they are those that Python prints, exact halves too."""

import json
import random
import shutil
import subprocess

import pytest

from rulerank.render.document import summed, units
from rulerank.serve.web.app import HERE

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's script")

RUN = """
import { summed, units } from "./sums.js";
const asked = JSON.parse(process.argv[2]);
console.log(JSON.stringify({
  units: asked.numbers.map(([number, digits]) => units(number, digits)),
  summed: asked.sums.map(([parts, total, digits]) => summed(parts, units(total, digits), digits)),
}));
"""


def test_the_page_prints_numbers_as_python_does(tmp_path):
    rng = random.Random(0)
    halves = [(n / 2 ** (digits + 1), digits) for digits in range(6) for n in range(-40, 41)]
    near = [(0.0015, 3), (1.005, 2), (-2.675, 2), (0.0, 3), (-0.0004, 3), (1e-300, 3), (123456.0625, 3), (1e21, 0)]
    numbers = halves + near + [(rng.gauss(0, 10.0 ** rng.randint(-4, 4)), rng.randint(2, 5)) for _ in range(500)]
    sums = [([0.0625, 0.0625], 0.125, 3), ([0.1875, -0.0625, 0.5], 0.625, 3)]
    for _ in range(100):
        parts = [rng.randint(-32, 32) / 16 if rng.random() < 0.5 else rng.gauss(0, 1) for _ in range(rng.randint(1, 6))]
        sums.append((parts, sum(parts), 3))
    shutil.copy(HERE / "static" / "sums.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(RUN)
    asked = json.dumps({"numbers": numbers, "sums": sums})
    done = subprocess.run(["node", tmp_path / "run.js", asked], capture_output=True, text=True, check=True, timeout=60)
    shown = json.loads(done.stdout)
    assert shown["units"] == [units(number, digits) for number, digits in numbers]
    expected = [[str(bar) for bar in summed(parts, units(total, digits), digits)] for parts, total, digits in sums]
    assert [[part.replace("\N{MINUS SIGN}", "-") for part in parts] for parts in shown["summed"]] == expected
