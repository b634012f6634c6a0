"""Worker processes: one, or several under uvicorn's supervisor.

uvicorn would start each worker from scratch, with its own copy of model and index. Ours are forked from a process that
has loaded them, so that they are in memory once. All accept from one socket. On SIGTERM or Ctrl-C they accept no new
connections, finish open requests and stop. A worker that dies is replaced; workers whose parent has died stop, so that
the port is free again.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from starlette.types import ASGIApp
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.web.app import Metrics
from rulerank.web.server import SIGNALS, Server, make_server

LOOK_SECONDS = 0.2  # between two checks of the model file
MOST_QUICK_DEATHS = 5  # in a row, of workers that never answered a ping; then give up
SWITCH_SECONDS = 0.001  # shorter than Python's 5 ms: a request takes 1 to 2 ms
HANG_SECONDS = 30  # without a ping, after which a worker is replaced

Prepare = Callable[[int], ASGIApp]  # creates the application of a worker, in its process


def follow(reranker: WatchedReranker, metrics: Metrics) -> None:
    """Check the model file for ever, in a thread, and count changes."""
    version, problem = reranker.version, reranker.problem
    while True:
        time.sleep(LOOK_SECONDS)
        now, trouble = reranker.version, reranker.problem
        if now != version:
            metrics.uses(now)
            metrics.reloads.inc()
        if trouble is not None and trouble != problem:
            metrics.failed_reloads.inc()
            print(f"the new model was not loaded: {trouble}", file=sys.stderr, flush=True)
        version, problem = now, trouble


def run(
    prepare: Prepare,
    listening: socket.socket,
    n_workers: int,
    grace: float,
    reranker: WatchedReranker,
    metrics: Metrics,
    ready: Callable[[], None],
) -> int:
    """Serve until SIGTERM or Ctrl-C, and return the exit code; calls `ready` at the start."""
    gc.freeze()  # keeps the garbage collector off loaded objects, so that forked processes share them
    sys.setswitchinterval(SWITCH_SECONDS)
    watch = threading.Thread(target=follow, args=(reranker, metrics), daemon=True)
    if n_workers == 1:
        server = make_server(prepare(0), grace, ready)
        watch.start()
        server.run(sockets=[listening])
        return 0
    if not hasattr(os, "fork"):
        raise DataError("--workers above 1 needs a system with fork: start several services on different ports")

    def make(number: int) -> Server:
        server = make_server(prepare(number), grace)
        watch.start()
        return server

    workers = Workers(make, listening, n_workers, grace, reranker, ready)
    workers.run()
    return int(workers.failed)


class Worker(Process):
    """A forked process of uvicorn's supervisor."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], make: Callable[[], Server]) -> None:
        super().__init__(config, sockets)
        self.make, self.has_answered = make, False
        self.process = multiprocessing.get_context("fork").Process(target=self.target, args=(sockets,))  # type: ignore[assignment]

    def start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the child has its own handlers
        super().start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal, or until the parent has died."""
        for number in SIGNALS:  # the default, until the server installs its handlers
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        self._server = self.make()
        threading.Thread(target=self.end_with_parent, daemon=True).start()
        super().target(sockets)
        sys.stderr.flush()
        os._exit(0)  # without waiting for threads of abandoned requests

    def ping(self, timeout: float = HANG_SECONDS) -> bool:
        """Return whether the worker answers; does not wait for one that has ended."""
        self.parent_conn.send(b"ping")
        if self.parent_conn in wait([self.parent_conn, self.process.sentinel], timeout):
            self.parent_conn.recv()
            return True
        return False

    def end_with_parent(self) -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        wait([parent.sentinel])
        self.server.should_exit = True


class Workers(Multiprocess):
    """uvicorn's supervisor with forked workers; gives up if they die at the start."""

    processes: list[Worker]  # type: ignore[assignment]

    def __init__(
        self,
        make: Callable[[int], Server],
        listening: socket.socket,
        n_workers: int,
        grace: float,
        reranker: WatchedReranker,
        ready: Callable[[], None],
    ) -> None:
        config = uvicorn.Config(None, workers=n_workers, log_level="warning")  # type: ignore[arg-type]
        super().__init__(config, [listening])
        self.make, self.grace, self.reranker, self.ready = make, grace, reranker, ready
        self.n_quick_deaths, self.failed = 0, False

    def init_processes(self) -> None:
        self.processes = [self.started(number) for number in range(self.processes_num)]
        self.ready()

    def started(self, number: int) -> Worker:
        worker = Worker(self.config, self.sockets, lambda: self.make(number))
        worker.start()
        return worker

    def keep_subprocess_alive(self) -> None:
        for number, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if worker.is_alive(HANG_SECONDS):
                if not worker.has_answered:
                    worker.has_answered, self.n_quick_deaths = True, 0
                continue
            worker.kill()
            worker.join()
            mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
            self.n_quick_deaths += not worker.has_answered
            if self.n_quick_deaths == MOST_QUICK_DEATHS:
                print(f"error: {MOST_QUICK_DEATHS} workers in a row died at the start", file=sys.stderr)
                self.failed = True
                self.should_exit.set()
            else:
                print(f"worker {number} died and is replaced", file=sys.stderr, flush=True)
                self.reranker.refresh()  # so that it starts with the current model
                self.processes[number] = self.started(number)

    def join_all(self) -> None:
        """Wait for all workers, and kill those that do not stop."""
        last = time.monotonic() + self.grace + 2
        for worker in self.processes:
            worker.process.join(max(0.0, last - time.monotonic()))
            worker.process.kill()

    def handle_hup(self) -> None:
        """Stop when the terminal is closed; a reload is not needed."""
        self.should_exit.set()

    def handle_ttin(self) -> None:
        """Keep the number of workers."""

    handle_ttou = handle_ttin
