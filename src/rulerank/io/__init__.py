"""Files in and out. One file a format; `formats.py` says which file is what, `convert.py` goes from any to any.
`table_columns.py` says which columns of a table are features, texts or ids.

`streams.py` reads whatever a caller names, `outputs.py` is the only place that opens an output, `doc_names.py` the only
one that names documents, `model_container.py` the file around a model. The names below load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "letor": (
            "read_letor",
            "write_letor",
        ),
        "tables": (
            "read_table",
            "write_table",
            "from_frame",
            "to_frame",
        ),
        "trec": (
            "Run",
            "Qrels",
            "read_run",
            "write_run",
            "read_qrels",
            "write_qrels",
            "run_from_scores",
        ),
        "quepid": (
            "read_quepid",
            "write_quepid",
        ),
        "folds": (
            "read_folds",
            "read_or_split",
        ),
        "formats": (
            "FORMATS",
            "detect",
        ),
        "convert": (
            "read_any",
            "write_any",
        ),
        "engine_logs": ("read_logs",),
        "streams": ("read_bytes",),
        "outputs": (
            "write_bytes",
            "write_text",
        ),
    },
)
