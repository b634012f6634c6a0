"""Files that logs leave, for folders in which commands are tried: clicks on interleaved lists, and a score."""

import json

import numpy as np
import polars as pl

import rulerank as rr
from rulerank.clicks.interleaving import interleave_runs

SESSIONS = [f"s{number}" for number in range(5)]


def write_teams(folder, *names):
    """Write teams.csv: the lists of two runs interleaved, each clicked at its second place."""
    shown = [
        {"query": query, "session": session, "doc": doc, "position": place, "clicked": int(place == 2), "team": team}
        for query, session, mixed in interleave_runs(*(rr.read_run(folder / f"{name}.run") for name in names), SESSIONS)
        for place, (doc, team) in enumerate(zip(mixed.docs, mixed.teams, strict=True), 1)
    ]
    pl.DataFrame(shown).write_csv(folder / "teams.csv")


def write_scored(data, ranker, path):
    """Write the first document and its score, as `rulerank export --check` reads them."""
    X = np.nan_to_num(data.X[:1])
    row = dict(zip(data.feature_names, X[0].tolist(), strict=True))
    path.write_text(json.dumps({"features": row, "score": float(ranker.predict(X)[0])}) + "\n")
