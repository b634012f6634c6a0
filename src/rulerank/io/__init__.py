"""Files in and out: one path from a source to a `Dataset`, one file a format.

`streams.py` reads whatever a caller names, `formats.py` says which file is what and goes from any to any. Polars reads
csv, tsv and Parquet (`tables.py`), whose columns become numbers by the rules of `columns.py`; LETOR text has its own
parser. `outputs.py` is the only place that opens an output, `doc_names.py` the only one that names documents. The names
below load when they are used.
"""

from rulerank.core import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "letor": ("read_letor", "write_letor"),
        "tables": ("read_table", "write_table", "from_frame", "to_frame"),
        "trec": ("Run", "Qrels", "read_run", "write_run", "read_qrels", "write_qrels", "run_from_scores"),
        "folds": ("read_folds",),
        "formats": ("FORMATS", "detect", "read_any", "write_any"),
        "engine_logs": ("read_logs",),
        "streams": ("read_bytes",),
        "outputs": ("write_bytes", "write_text"),
    },
)
