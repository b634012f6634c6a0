"""rulerank judge: a web page to grade documents, sampled from the baseline ranking."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from rulerank.cli import options as cli
from rulerank.cli.output import print_json
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.loop import Judging


def judge(
    source: Annotated[str, cli.argument("POOL", "Documents to judge: LETOR text or a table.")],
    labels: Annotated[str, cli.option("STORE", "Label store: a file or postgresql:// URL.")] = "labels.db",
    rater: Annotated[str | None, cli.option("NAME", "Name of the rater.  [default: asked on the first visit]")] = None,
    guidelines: Annotated[
        str | None,
        cli.option(
            "FILE",
            "Grading scale, one 'GRADE: name - description' per line.  [default: the grades of POOL, else 0 to 4]",
        ),
    ] = None,
    n_listed: Annotated[
        int | None, cli.option("N", "Start in list view, with N documents per query.", "--list", min=1, max=50)
    ] = None,
    show: Annotated[str | None, cli.option("A,B,...", "More columns to show to raters.")] = None,
    overlap: Annotated[str, cli.option("SHARE", "Share of documents to be judged by two raters.")] = "0%",
    baseline: cli.BaselineOption = None,
    model: Annotated[str, cli.option("FILE", "Model file that the page's training writes.")] = "model.rulerank",
    host: cli.Host = "127.0.0.1",
    port: cli.Port = None,
    token: cli.Token = None,
    open_browser: Annotated[bool, cli.flag("Open the page in the browser.", "--open/--no-open")] = True,
    qid: cli.Qid = None,
    docid: cli.Docid = None,
    as_json: cli.AsJson = False,
) -> None:
    """Serve a page to grade a sample of documents.

    Shows one query and document at a time, sampled from the whole baseline ranking or, without a baseline, by SSAR. One
    key press grades a document and saves the label. Columns named title, text, url and query are displayed as such. The
    admin page has personal links for raters (with --token), progress, disputes, settings and training. Ctrl-C stops the
    server; labels stay in STORE, and the next start continues from there.

    Example:
        # judge on this machine
        rulerank judge pool.csv
        # lists of 20 documents; a tenth of the documents for two raters
        rulerank judge pool.csv --rater ann --overlap 10% --list 20
        # raters on other machines
        rulerank judge pool.csv --host 0.0.0.0 --token "a secret of yours" --labels judged.db
    """
    from rulerank.judging.loop import Judging
    from rulerank.judging.pool import read_pool
    from rulerank.judging.web import check_packages

    check_packages()
    from rulerank.baseline import suggest_baseline
    from rulerank.judging.guidelines import read_guidelines, usual_guidelines
    from rulerank.judging.labels import check_rater
    from rulerank.judging.store import LabelStore
    from rulerank.web import server

    server.check_token(host, token)
    rater = None if rater is None else check_rater(rater)
    shown = [name.strip() for name in show.split(",")] if show else []
    pool, twice = read_pool(source, show=shown, **cli.columns(qid, docid)), share(overlap)
    meant = None if guidelines is None else read_guidelines(guidelines)
    found = None
    if baseline is not None or suggest_baseline(pool.data.feature_names) is not None:
        found = cli.baseline_of(pool.data.feature_names, baseline)
    else:
        print(
            "No baseline ranking found: SSAR samples the documents, query by query. "
            "Name one with --baseline FEATURE to train models from it and compare with it.",
            file=sys.stderr,
        )

    def training(method: str) -> str:
        """Return the command that trains on these documents and labels."""
        named = [("--qid", qid), ("--docid", docid), ("--baseline", None if found is None else found.text)]
        given = [word for name, value in named if value is not None for word in (name, value)]
        words = ["rulerank", "train", source, "--labels", labels, *given, "--method", method, "-o", model]
        return shlex.join(words)

    with LabelStore(labels) as store:
        if meant is None:
            known = [*pool.own_grades.values(), *(label.grade or 0 for label in store.labels())]
            meant = usual_guidelines(known)
        judging = Judging(
            pool, store, baseline=found, max_grade=meant.max_grade, overlap=twice, n_listed=n_listed or 10
        )
        store.check_writable()
        threading.Thread(target=judging.prepare, daemon=True).start()  # while the web packages load
        from rulerank.judging.web.app import create_app

        app = create_app(
            judging,
            rater=rater,
            guidelines=meant,
            lists_first=n_listed is not None,
            token=token,
            model_path=model,
            command=training,
        )
        with server.open_socket(host, port) as listening:
            secret = "" if token is None else "?" + urlencode({"token": token})
            url = server.url_of(listening) + secret
            beyond = "" if server.is_loopback(host) else f"{socket.gethostname()}:{listening.getsockname()[1]}"
            print_hello(judging, url, f"http://{beyond}/{secret}" if beyond else None, as_json=as_json)
            if open_browser:
                threading.Thread(target=server.open_page, args=(url,), daemon=True).start()
            server.serve(app, listening)
        if not as_json:
            print_goodbye(judging, source, model, training(judging.usual_method))


def print_hello(judging: Judging, url: str, beyond: str | None, *, as_json: bool) -> None:
    pool, store = judging.pool, judging.store
    if as_json:
        print_json({"url": url, "labels": store.name, "documents": len(pool), "queries": len(pool.queries)})
    else:
        print(f"{pool!r}\nJudge at {url}")
        if beyond is not None:
            print(f"On other machines: {beyond}; create personal links for raters on the admin page")
        print(f"Labels are saved in {store.name}. Press Ctrl-C to stop.")
    sys.stdout.flush()


def print_goodbye(judging: Judging, source: str, model: str, training: str) -> None:
    from rulerank._util.words import counted

    n_labels = len(judging.store.labels())
    print(f"\n{counted(n_labels, 'label')} in {judging.store.name}.")
    if n_labels:
        print(f"Train a model on them:\n    {training}")
    if Path(model).is_file():
        print(f"Rank with {model}:\n    {shlex.join(['rulerank', 'rank', source, model])}")


def share(text: str) -> float:
    """Parse a share: 10% or 0.1.

    >>> share("10%"), share("0.25")
    (0.1, 0.25)
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise DataError(f"--overlap must be a share such as 10% or 0.1: got {text!r}")
    return value
