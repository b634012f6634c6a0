"""The same models from data that does not fit in memory: parts on disk, or on the machines of a Dask cluster.

`part.py` is what a part is; `opening.py` finds them, `survey.py` looks at grades and queries of all before any long
work. `streamed.py` runs passes over parts in this process,
`dask_runner.py` on a cluster. `fit.py` puts them together; `score.py` scores and measures.
"""
