"""The README's command lines, one after the other in an empty folder, as a reader types them."""

import shlex
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_command_lines_of_the_readme_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rulerank.web.server.serve", lambda app, listening: None)  # the reader pressed Ctrl-C
    monkeypatch.setattr("rulerank.web.server.open_page", lambda url: None)
    lines = [line.strip() for line in README.read_text().splitlines() if line.startswith("    rulerank ")]
    assert len(lines) >= 6
    for line in lines:
        command = shlex.split(line, comments=True)[1:]
        done = run(*command, *(["--quick"] if command[0] == "compare" else []))
        assert done.code == 0, f"{line}: {done.err}"
