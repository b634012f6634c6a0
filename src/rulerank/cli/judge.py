"""rulerank judge: a page on which people grade documents, the most telling ones first."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from rulerank.cli.options import (
    AsJson,
    Baseline,
    Docid,
    Host,
    Port,
    Qid,
    Token,
    argument,
    baseline_feature,
    columns,
    flag,
    option,
)
from rulerank.cli.output import print_json
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.loop import Judging

NO_MODEL = (
    "the judging page ranks by a feature: give the pool the model's scores as a column (rulerank rank POOL MODEL "
    "-o scores.csv writes them), and name that"
)


def judge(
    source: Annotated[str, argument("POOL", "The documents to judge: LETOR text or a table.")],
    labels: Annotated[str, option("STORE", "Where labels are kept: a file or postgresql:// URL.")] = "labels.db",
    rater: Annotated[str | None, option("NAME", "Who judges [asked on the first visit].")] = None,
    guidelines: Annotated[str | None, option("FILE", "The grades, as 2: good - Answers it all [0 to 4].")] = None,
    n_listed: Annotated[int | None, option("N", "Start with lists of N documents.", "--list", min=1, max=50)] = None,
    show: Annotated[str | None, option("A,B,...", "Other columns that raters see.")] = None,
    overlap: Annotated[str, option("SHARE", "Documents that two raters judge, as 10%.")] = "0%",
    baseline: Baseline = None,
    model: Annotated[str, option("FILE", "Where training saves the model.")] = "model.rulerank",
    host: Host = "127.0.0.1",
    port: Port = None,
    token: Token = None,
    open_browser: Annotated[bool, flag("Open the page in the browser.", "--open/--no-open")] = True,
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """Judge documents on a local page, the most telling first.

    Shows one query and one document at a time, from all over the baseline ranking or, where there is none, in the order
    of SSAR; takes a grade with one key and keeps it at once. Columns called title, text, url and query are shown as
    what they are. The admin's page has personal links for raters (with --token), progress, disputes, settings and
    training. Ctrl-C stops it; the labels stay in STORE, and the next start goes on from there.

    Example:
        rulerank judge pool.csv
        rulerank judge pool.csv --rater ann --overlap 10% --list 20
        rulerank judge pool.csv --host 0.0.0.0 --token "a secret of yours" --labels judged.db
    """
    from rulerank.judging.loop import Judging
    from rulerank.judging.offers import ListChoices
    from rulerank.judging.pool import read_pool
    from rulerank.judging.web import check_packages

    check_packages()
    from rulerank.judging.guidelines import parse_guidelines, read_guidelines
    from rulerank.judging.labels import check_rater
    from rulerank.judging.store import LabelStore
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata
    from rulerank.web import server

    server.check_token(host, token)
    rater = None if rater is None else check_rater(rater)
    shown = [name.strip() for name in show.split(",")] if show else []
    pool = read_pool(source, show=shown, **columns(qid, docid))
    meant = parse_guidelines("", None) if guidelines is None else read_guidelines(guidelines, None)
    found = baseline_feature(pool.data.feature_names, baseline, NO_MODEL)
    if found is None:
        print(
            "no feature's name says that it ranks the documents now: documents are chosen by SSAR, query by query; "
            "--baseline FEATURE lets models start from that ranking and be compared with it",
            file=sys.stderr,
        )
    option = None if found is None else found.option

    def training(method: str) -> str:
        """Return the command that trains on these documents and labels."""
        named = [("--qid", qid), ("--docid", docid), ("--baseline", option)]
        given = [word for name, value in named if value is not None for word in (name, value)]
        words = ["rulerank", "train", source, "--labels", labels, *given, "--method", method, "-o", model]
        return shlex.join(words)

    with LabelStore(labels) as store:
        judging = Judging(
            pool,
            store,
            sampler=SSAR(per_query=True) if option is None else Strata(today=option),
            today=option,
            max_grade=meant.max_grade,
            overlap=share(overlap),
        )
        store.check_writable()
        threading.Thread(target=judging.prepare, daemon=True).start()  # while the rest is loaded
        from rulerank.judging.web.app import create_app

        app = create_app(
            judging,
            rater=rater,
            guidelines=meant,
            lists=ListChoices(n_listed or 10, come_first=n_listed is not None),
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
            print(f"On other machines: {beyond}; the admin's page makes personal links for raters")
        print(f"Labels go to {store.name}; Ctrl-C stops.")
    sys.stdout.flush()


def print_goodbye(judging: Judging, source: str, model: str, training: str) -> None:
    from rulerank.core.words import counted

    n_labels = len(judging.store.labels())
    print(f"\n{counted(n_labels, 'label')} in {judging.store.name}.")
    if n_labels:
        print(f"Train a model on them:\n    {training}")
    if Path(model).is_file():
        print(f"Rank with {model}:\n    {shlex.join(['rulerank', 'rank', source, model])}")


def share(text: str) -> float:
    """Return a share of the documents from 10% or 0.1.

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
