"""Processes that answer: one, or several forked from one that has loaded everything, and what ends them.

All accept from one socket. SIGTERM or Ctrl-C: no new connections, what has begun is answered, then the end. A worker
that dies is replaced; workers whose parent has died end by themselves, so that the port is free for the next start.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.web.metrics import Metrics
from rulerank.web.server import Server, server_config

SIGNALS = (signal.SIGTERM, signal.SIGINT)
LOOK_SECONDS = 0.2  # between two looks at the model file where nobody asks
QUICK_DEATH = 2.0  # seconds; so many of them in a row are no accident:
MOST_QUICK_DEATHS = 5
SWITCH_SECONDS = 0.001  # threads change places sooner than Python's 5 ms: an answer is made in one or two
FAILED = 1

Prepare = Callable[[int], ASGIApp]  # the application of a worker, made in its own process


class ServiceServer(Server):
    """Ends when asked to, without passing the signal on: a graceful stop is a success."""

    ready: Callable[[], None] | None = None  # called once it listens, and signals end it as they should

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.ready is not None:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(app: ASGIApp, grace: float) -> ServiceServer:
    """Return a server; grace: seconds in which to answer what has begun, after the signal to stop."""
    return ServiceServer(server_config(app, grace=grace))


def follow(reranker: WatchedReranker, metrics: Metrics) -> None:
    """Look at the model file for ever, in a thread, and note what changes."""
    version, problem = reranker.version, reranker.problem
    while True:
        time.sleep(LOOK_SECONDS)
        now, trouble = reranker.version, reranker.problem
        if now != version:
            metrics.uses(now)
        if trouble is not None and trouble != problem:
            metrics.failed()
            print(f"the new model is not used: {trouble}", file=sys.stderr, flush=True)
        version, problem = now, trouble


def answer(
    app: ASGIApp,
    listening: socket.socket,
    grace: float,
    watch: Callable[[], None],
    *,
    alive: int | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Answer requests in this process until a signal, or until nobody holds the other end of the pipe `alive`."""
    sys.setswitchinterval(SWITCH_SECONDS)
    server = make_server(app, grace)
    server.ready = ready
    threading.Thread(target=watch, daemon=True).start()
    if alive is not None:
        threading.Thread(target=_end_with, args=(alive, server), daemon=True).start()
    server.run(sockets=[listening])


def _end_with(alive: int, server: uvicorn.Server) -> None:
    os.read(alive, 1)  # returns when the parent is gone: nothing is ever written
    server.should_exit = True


def run(
    prepare: Prepare,
    listening: socket.socket,
    n_workers: int,
    grace: float,
    reranker: WatchedReranker,
    metrics: Metrics,
    ready: Callable[[], None],
) -> int:
    """Answer requests until SIGTERM or Ctrl-C, and return the exit code; `ready` is called at the beginning."""
    gc.freeze()  # what is loaded stays: nobody looks through it again, and forked processes go on sharing it
    if n_workers == 1:
        answer(prepare(0), listening, grace, partial(follow, reranker, metrics), ready=ready)
        return 0
    if not hasattr(os, "fork"):
        raise DataError("--workers above 1 needs a system that can fork: start several services on other ports")
    return Workers(prepare, listening, n_workers, grace, reranker, metrics, ready).run()


class Workers:
    """The parent: starts workers, replaces those that die, and ends them all."""

    def __init__(
        self,
        prepare: Prepare,
        listening: socket.socket,
        n_workers: int,
        grace: float,
        reranker: WatchedReranker,
        metrics: Metrics,
        ready: Callable[[], None],
    ) -> None:
        self.prepare = prepare
        self.listening = listening
        self.n_workers = n_workers
        self.grace = grace
        self.reranker = reranker
        self.metrics = metrics
        self.ready = ready
        self.stopping = False
        self.pids: dict[int, int] = {}  # process: its number among the workers
        self.begun: dict[int, float] = {}  # process: when
        self.n_quick_deaths = 0
        self.alive, self._held = os.pipe()

    def run(self) -> int:
        """Run until a signal; return the exit code."""
        before = {number: signal.signal(number, self._stop) for number in SIGNALS}
        try:
            for number in range(self.n_workers):
                self._start(number)
            self.ready()
            while not self.stopping and self.n_quick_deaths < MOST_QUICK_DEATHS:
                time.sleep(0.05)
                self._replace_dead()
            if not self.stopping:
                print(f"error: workers end as soon as they start, {MOST_QUICK_DEATHS} in a row", file=sys.stderr)
            self._end()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self.alive)
            os.close(self._held)
        return 0 if self.stopping else FAILED

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _start(self, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            self.pids[pid], self.begun[pid] = number, time.monotonic()
            return
        code = FAILED
        try:
            for signal_number in SIGNALS:  # until the server takes them, they end the process as usual
                signal.signal(signal_number, signal.SIG_DFL)
            os.close(self._held)  # the parent's alone: its end is the parent's end
            watch = partial(follow, self.reranker, self.metrics)
            answer(self.prepare(number), self.listening, self.grace, watch, alive=self.alive)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _ended(self) -> list[int]:
        """Return the processes that have ended since the last look."""
        return [pid for pid in [*self.pids] if os.waitpid(pid, os.WNOHANG)[0]]

    def _replace_dead(self) -> None:
        for pid in self._ended():
            number, lived = self.pids.pop(pid), time.monotonic() - self.begun.pop(pid)
            self.n_quick_deaths = self.n_quick_deaths + 1 if lived < QUICK_DEATH else 0
            if not self.stopping:
                print(f"worker {number} has died and is replaced", file=sys.stderr, flush=True)
                self.reranker.refresh()  # so that it starts with the model of now
                self._start(number)

    def _end(self) -> None:
        """Ask all workers to end, and insist when they do not."""
        for number, patience in ((signal.SIGTERM, self.grace + 2), (signal.SIGKILL, 5.0)):
            for pid in self.pids:
                os.kill(pid, number)
            last = time.monotonic() + patience
            while self.pids and time.monotonic() < last:
                for pid in self._ended():
                    del self.pids[pid]
                time.sleep(0.02)
