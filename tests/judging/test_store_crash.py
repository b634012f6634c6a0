"""Processes that are killed at any moment lose no label that was acknowledged; processes at work take turns."""

import json
import subprocess
import sys

import pytest

from long_tests import LONG
from rulerank.judging.store import LabelStore

# Writers are forked from one process that has loaded everything, so that most of a writer's short life is writing.
# A writer says what it has done only when the store has returned from doing it.
KILLER = """
import json, os, random, select, signal, sys, time
from rulerank.judging.store import LabelStore

path, n_kills, waits = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
at_once = 3
rng = random.Random(7)

def write(number, pipe):
    rater = f"rater-{number}"
    with LabelStore(path) as store:
        for step in range(100_000):
            if step % 5 == 4:
                label = store.undo(rater)
            elif step % 7 == 6:
                label = store.add("q", f"d{step - 1}", 1, rater)
            else:
                store.claim("q", f"d{step}", rater, raters=1000)
                label = store.add("q", f"d{step}", step % 5, rater)
            said = [label.id, label.doc, label.grade, rater, label.withdrawn is not None]
            os.write(pipe, json.dumps(said).encode() + b"\\n")

def start(number):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        write(number, writing)
        os._exit(0)
    os.close(writing)
    return child, reading

def reap(child, reading):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        sys.stdout.write(pipe.read().decode())

alive = []
for number in range(n_kills):
    alive.append(start(number))
    if rng.random() < waits:  # until it is at work; else it may be killed as it opens the store
        select.select([alive[-1][1]], [], [], 20)
    time.sleep(rng.expovariate(1 / 0.05))
    if len(alive) == at_once:
        reap(*alive.pop(rng.randrange(at_once)))
for writer in alive:
    reap(*writer)
"""


@pytest.mark.parametrize(("backend", "n_kills", "waits"), [("sqlite", 40, 0.5), ("postgresql", 8, 0.9)])
def test_kills_at_any_moment_lose_no_acknowledged_label(backend, n_kills, waits, tmp_path, request):
    target = tmp_path / "labels.db" if backend == "sqlite" else request.getfixturevalue("postgres").new_url()
    call = [sys.executable, "-c", KILLER, str(target), str(n_kills), str(waits)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) > n_kills
    with LabelStore(target) as store:
        history = {label.id: label for label in store.history()}
        current = store.labels()
        assert store.add("q", "after", 1, "ann").id == len(history) + 1
    assert [*history] == [*range(1, len(history) + 1)]
    for number, doc, grade, rater, withdrawn in said:
        label = history[number]
        assert (label.doc, label.grade, label.rater) == (doc, grade, rater)
        assert label.withdrawn is not None or not withdrawn
    keys = [(label.query, label.doc, label.rater) for label in current]
    assert len(set(keys)) == len(keys)
    acknowledged = {number for number, *_ in said}
    # a writer is killed at most once, so at most one label of each came through without a word
    unsaid = [label.rater for label in history.values() if label.id not in acknowledged]
    assert len(set(unsaid)) == len(unsaid)


JUDGES = """
import sys, threading, time
from pathlib import Path
from rulerank.judging.store import LabelStore

path, process, n_docs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = LabelStore(path)

def wait_for_all(rater):  # nobody goes on before all have begun, however slow the machine is
    Path(path).with_name(f"begun-{rater}").touch()
    patience = time.monotonic() + 120
    while len([*Path(path).parent.glob("begun-*")]) < 8 and time.monotonic() < patience:
        time.sleep(0.01)

def judge(rater):
    begun = False
    for number in range(n_docs):
        doc = f"d{(number * 7 + process * 1000) % n_docs}"
        if doc in done:
            continue
        if store.claim("q", doc, rater):
            label = store.add("q", doc, 1, rater)
            lines.append(f"{label.id} {doc} {rater}")
            if not begun:
                begun = True
                wait_for_all(rater)
        done.add(doc)

done, lines = set(), []
threads = [threading.Thread(target=judge, args=(f"rater-{process}-{number}",)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\\n".join(lines))
"""


def test_eight_raters_in_two_processes_share_thousands_of_documents_without_loss(tmp_path):
    n_docs = 5000 if LONG else 600
    path = tmp_path / "labels.db"
    LabelStore(path).close()
    calls = [[sys.executable, "-c", JUDGES, path, str(process), str(n_docs)] for process in range(2)]
    judges = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for call in calls]
    said = [line.split() for judge in judges for line in judge.communicate()[0].splitlines()]
    assert [judge.returncode for judge in judges] == [0, 0]
    with LabelStore(path) as store:
        kept = [[str(label.id), label.doc, label.rater] for label in store.labels()]
        assert store.glance("ann").claims == []
    assert sorted(kept) == sorted(said)
    assert sorted(doc for _, doc, _ in kept) == sorted(f"d{number}" for number in range(n_docs))
    assert len({rater for *_, rater in kept}) == 8
