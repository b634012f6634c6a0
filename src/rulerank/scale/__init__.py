"""The same models from data that does not fit in memory: parts on disk, or on the machines of a Dask cluster."""
