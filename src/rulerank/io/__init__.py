"""Files in and out: one path from a file to a `Dataset`, one file per format.

`files.py` alone opens files; `formats.py` finds the format and converts any to any. Polars reads csv, tsv and Parquet
(`frames.py`), `tables.py` makes data sets of frames by the rules of `columns.py`, and LETOR text has its own parser.
The names below load when they are used.
"""

from typing import TYPE_CHECKING

from rulerank._util.words import surface

if TYPE_CHECKING:  # isort: off
    from rulerank.io.letor import read_letor as read_letor, write_letor as write_letor
    from rulerank.io.tables import read_table as read_table, write_table as write_table
    from rulerank.io.tables import from_frame as from_frame, to_frame as to_frame
    from rulerank.io.trec import Run as Run, Qrels as Qrels, run_from_scores as run_from_scores
    from rulerank.io.trec import read_run as read_run, write_run as write_run
    from rulerank.io.trec import read_qrels as read_qrels, write_qrels as write_qrels
    from rulerank.io.texts import Documents as Documents, Queries as Queries
    from rulerank.io.texts import read_documents as read_documents, read_queries as read_queries
    from rulerank.io.texts import read_judgements as read_judgements
    from rulerank.io.formats import Conversion as Conversion, convert as convert, read_folds as read_folds
    from rulerank.io.engine_logs import read_logs as read_logs

__all__, __getattr__ = surface(
    __name__,
    {
        "letor": ("read_letor", "write_letor"),
        "tables": ("read_table", "write_table", "from_frame", "to_frame"),
        "trec": ("Run", "Qrels", "read_run", "write_run", "read_qrels", "write_qrels", "run_from_scores"),
        "texts": ("Documents", "Queries", "read_documents", "read_queries", "read_judgements"),
        "formats": ("Conversion", "convert", "read_folds"),
        "engine_logs": ("read_logs",),
    },
)
