"""Someone who types what a page says, line by line in one folder, and looks whether the answers are those shown."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import uvicorn

from document_blocks import Block
from rulerank.web.server import make_server

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PASSED_OVER = ("pip", "make", "git", "source", "cd")  # tests/docs/test_pages.py looks at what they name


class Reader:
    """Follows pages: commands in this process, sessions of a page in one namespace, output compared.

    smaller: what to type instead of parts of commands, such as 2 splits for 20: the road, not the figures.
    """

    def __init__(self, run, folder: Path, monkeypatch, smaller: dict[str, str] | None = None) -> None:
        self.run, self.folder, self.smaller = run, folder, smaller or {}
        self.printed = ""
        self.names: dict[str, object] = {}
        self.to_ask: list[str] = []  # curl lines of the page: /api/ is the judging page's, the rest the service's
        self.n_typed = self.n_passed_over = self.n_compared = 0
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(folder)
        sys.modules.pop("my_rankers", None)  # of the page before
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setattr("rulerank.web.server.open_page", lambda url: None)
        monkeypatch.setattr("rulerank.web.server.serve", self._serve_page)
        monkeypatch.setattr("rulerank.serve.web.workers.run", self._serve_model)

    def follow(self, blocks: Iterable[Block]) -> None:
        """Type all of a page."""
        blocks = list(blocks)
        self.to_ask = [line for block in blocks if block.kind == "shell" for line in block.commands if is_curl(line)]
        for block in blocks:
            where = f"{block.page}:{block.line}"
            match block.kind:
                case "shell":
                    for command in block.commands:
                        self.type(command, where)
                case "session":
                    self.try_session(block, where)
                case "python":
                    exec(compile("\n".join(block.lines), where, "exec"), self.names)
                case "file":
                    (self.folder / block.title).write_text("\n".join(block.lines) + "\n")
                case _:
                    self.compare(block, where)
        assert not self.to_ask, f"no service was there to ask: {self.to_ask}"

    def type(self, command: str, where: str) -> None:
        """Type a command, as it stands or smaller."""
        for part, instead in self.smaller.items():
            command = command.replace(part, instead)
        first, *words = shlex.split(command, comments=True)
        if first == "rulerank":
            done = self.run(*words)
            assert done.code == 0, f"{where}: {command}: {done.err}"
            self.printed += f"\n{done.out}\n{done.err}\n"
            self.n_typed += 1
        else:
            assert is_curl(command) or first in PASSED_OVER, f"{where}: nobody types {command!r} here"
            self.n_passed_over += 1

    def try_session(self, block: Block, where: str) -> None:
        """Run Python with prompts; names stay for the rest of the page."""
        text = "\n".join(block.lines) + "\n"
        test = doctest.DocTestParser().get_doctest(text, {}, where, block.page, block.line - 1)
        test.globs = self.names
        said: list[str] = []
        doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)

    def compare(self, block: Block, where: str) -> None:
        """Look whether each line of a block was printed by the commands above it; ... stands for anything."""
        for line in block.lines:
            expected = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
            shown = re.search(rf"^{expected} *$", self.printed, re.MULTILINE)
            assert shown, f"{where} shows {line!r}, which the commands above it do not print:\n{self.printed[-3000:]}"
            self.n_compared += 1

    def _serve_page(self, app, listening) -> None:
        self._ask([line for line in self.to_ask if "/api/" in line], make_server(app), listening)

    def _serve_model(self, prepare: Callable, listening, n_workers: int, grace: float, *others) -> int:
        self._ask([line for line in self.to_ask if "/api/" not in line], make_server(prepare(0), grace), listening)
        return 0

    def _ask(self, lines: list[str], server: uvicorn.Server, listening) -> None:
        """Type curl lines, as a reader does in another terminal, then press Ctrl-C."""
        if not lines:
            return
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            for line in lines:
                self.printed += f"\n{answer_of(line, listening.getsockname()[1])}\n"
                self.to_ask.remove(line)
        finally:
            server.should_exit = True
            thread.join()


def is_curl(command: str) -> bool:
    return command.startswith("curl ")


def answer_of(command: str, port: int) -> str:
    """Return what a curl line prints when the service listens on another port; refusals fail."""
    words = shlex.split(command.replace(":8765/", f":{port}/"), comments=True)
    if not shutil.which("curl"):
        pytest.skip("the docs' curl lines need curl")
    done = subprocess.run([*words, "--fail-with-body", "-sS"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
