"""The page's own outbox, run by node, against a server that is killed at any moment: what was pressed is kept, once."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from forked_servers import SERVERS
from long_tests import LONG
from rulerank.judging import schema as sql
from rulerank.judging.store import LabelStore
from rulerank.judging.web.pages import HERE

N_ROUNDS = 200 if LONG else 8
CLIENT = os.path.join(os.path.dirname(__file__), "outbox_client.mjs")

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's outbox")


@pytest.fixture
def script(tmp_path):
    """A folder with the page's own files and what runs them."""
    folder = tmp_path / "client"
    folder.mkdir()
    for name in ("outbox.js", "wire.js"):
        shutil.copy(HERE / "static" / name, folder)
    shutil.copy(CLIENT, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder / "outbox_client.mjs"


class Client:
    """The raters, in a process of their own; counts what they were told is kept."""

    def __init__(self, script, url):
        self.process = subprocess.Popen(["node", script, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.n_taken = 0
        self.result = None
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        for line in self.process.stdout:
            if line.startswith("+"):
                self.n_taken += 1
            else:
                self.result = json.loads(line)

    def wait_for_more(self, n_more):
        enough, patience = self.n_taken + n_more, time.monotonic() + 120
        while self.n_taken < enough and self.process.poll() is None and time.monotonic() < patience:
            time.sleep(0.005)

    def finish(self):
        self.process.stdin.close()
        self.thread.join(timeout=120)
        self.process.kill()
        self.process.wait()
        return self.result


def replay(presses):
    """Return what is in force when every press counts once, in its order."""
    given = {}
    for press in presses:
        mine = given.setdefault(press["rater"], [])
        if press["path"] == "/api/labels":
            mine.append((press["query"], press["doc"], press["grade"]))
        elif press["path"] == "/api/undo" and mine:
            mine.pop()  # a document that was graded once is back; the tabs hand out no graded one
    in_force = {}
    for rater, mine in given.items():
        for query, doc, grade in mine:
            in_force[query, doc, rater] = grade
    return in_force


def test_whatever_is_pressed_while_the_server_is_killed_is_kept_once(tmp_path, script):
    rng = random.Random(11)
    call = [sys.executable, "-c", SERVERS, tmp_path / "labels.db"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as servers:

        def start():
            servers.stdin.write("\n")
            return int(servers.stdout.readline())

        url = servers.stdout.readline().strip()
        server = start()
        client = Client(script, url)
        try:
            for number in range(N_ROUNDS):
                if number % 4:  # else it may be killed as it starts
                    client.wait_for_more(2)
                time.sleep(rng.expovariate(1 / 0.05))
                os.kill(server, signal.SIGKILL)
                server = start()
        finally:
            found = client.finish()
            os.kill(server, signal.SIGKILL)
            servers.stdin.close()
    presses = found["presses"]
    with LabelStore(tmp_path / "labels.db") as store:
        with store._read() as connection:
            judgements = connection.execute(sql.JUDGEMENTS.select()).all()
        history, current = store.history(), store.labels()
    print(f"{N_ROUNDS} kills, {len(presses)} presses, {len(history)} labels, {len(current)} in force")
    assert (found["refused"], found["left"]) == ([], [])
    assert sorted(row.id for row in judgements) == sorted(press["judgement"] for press in presses)
    labels = [press for press in presses if press["path"] == "/api/labels"]
    said = sorted((press["query"], press["doc"], press["grade"], press["rater"]) for press in labels)
    assert sorted((label.query, label.doc, label.grade, label.rater) for label in history) == said
    assert {(label.query, label.doc, label.rater): label.grade for label in current} == replay(presses)
    assert len(presses) > N_ROUNDS
