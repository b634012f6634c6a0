"""The README's command lines, one after the other in an empty folder, as a reader types them."""

import json
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

import httpx

from rulerank.serve.web.workers import make_server

README = Path(__file__).parents[2] / "README.md"
LINES = [line.strip() for line in README.read_text().splitlines()]


def test_the_command_lines_of_the_readme_run_and_print_what_it_shows(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rulerank.web.server.serve", lambda app, listening: None)  # the reader pressed Ctrl-C
    monkeypatch.setattr("rulerank.web.server.open_page", lambda url: None)
    answers = []
    monkeypatch.setattr("rulerank.serve.web.workers.run", lambda *started: answers.append(ask_service(*started)))
    n_run, n_compared, printed, block = 0, 0, "", None  # block: the language of the one we are in
    for line in README.read_text().splitlines():
        if line.startswith("```"):
            block = line[3:] if block is None else None
        elif block == "":
            assert f"\n{line}\n" in printed, f"the README shows {line!r}, which the commands above it do not print"
            n_compared += 1
        elif block is None and line.startswith("    rulerank "):
            command = shlex.split(line.strip(), comments=True)[1:]
            done = run(*command, *(["--quick"] if command[0] == "compare" else []))
            assert done.code == 0, f"{line}: {done.err}"
            n_run, printed = n_run + 1, f"{printed}\n{done.out}\n{done.err}"
    assert n_run >= 20
    assert n_compared >= 8
    assert [len(answer["results"]) for answer in answers] == [3]


def ask_service(prepare, listening, n_workers, grace, *watched):
    """Answer requests while the reader, in another terminal, types the README's next command."""
    server = make_server(prepare(0), grace)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        line = next(line for line in LINES if line.startswith("curl "))
        command = shlex.split(re.sub(r":8765/", f":{listening.getsockname()[1]}/", line), comments=True)
        if shutil.which("curl"):
            return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)
        return httpx.get(command[-1], timeout=120).json()
    finally:
        server.should_exit = True
        thread.join()


def test_from_texts_to_a_service_takes_six_commands():
    first = next(place for place, line in enumerate(LINES) if line.startswith("rulerank world shop"))
    words = [line.split()[0] for line in LINES[first - 1 : first + 5]]
    assert words == ["pip", "rulerank", "rulerank", "rulerank", "rulerank", "curl"]
