"""A PostgreSQL server for the tests: made in a temporary folder, reached by a socket there, gone with it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg


class CannotStartError(Exception):
    """There is no server here, or it does not start."""


@contextmanager
def postgres_server():
    """Start a server and give what makes URLs of empty databases in it; nothing of it is left afterwards."""
    programs = _folder_of_programs()
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    try:
        as_user = _as_nobody_special(folder)
        data = folder / "data"
        _run([programs / "initdb", "-D", data, "-U", "rater", "-A", "trust", "--no-sync"], as_user)
        command = [programs / "postgres", "-D", data, "-F", "-k", folder, "-c", "listen_addresses="]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, **as_user)
        try:
            _wait_for(server, folder)
            yield _Databases(folder)
        finally:
            server.send_signal(signal.SIGINT)  # ends connections and stops
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Databases:
    def __init__(self, folder):
        self.folder = folder
        self.n_made = 0

    def new_url(self):
        """Make a schema of its own and return the URL that leads into it."""
        self.n_made += 1
        name = f"test_{self.n_made}"
        with psycopg.connect(host=str(self.folder), user="rater", dbname="postgres", autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        options = quote(f"-csearch_path={name}")
        return f"postgresql://rater@/postgres?host={quote(str(self.folder), safe='')}&options={options}"


def _folder_of_programs():
    found = shutil.which("postgres")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        raise CannotStartError("there is no PostgreSQL server on this machine")
    return folders[-1]


def _as_nobody_special(folder):
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names.get("nobody")
    if user is None:
        raise CannotStartError("the server cannot run as root, and there is neither a user postgres nor nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}


def _run(command, as_user):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **as_user)
    if done.returncode:
        raise CannotStartError(f"{command[0].name} failed: {done.stderr.strip()[-300:]}")


def _wait_for(server, folder):
    for _ in range(300):
        if server.poll() is not None:
            raise CannotStartError(f"postgres ended: {(folder / 'log').read_text()[-300:]}")
        try:
            psycopg.connect(host=str(folder), user="rater", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise CannotStartError("postgres did not answer within 30 s")
