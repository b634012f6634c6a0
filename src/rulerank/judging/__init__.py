"""People give the grades: what they judge, where their labels are kept, and what is made of them.

`pool.py` holds the documents; `loop.py` says what to judge next, on the page (`web/`) and in the terminal
(`terminal.py`); `store.py` keeps the labels of a team and `label_files.py` those of one person; `transfer.py` takes
labels from a store to files and back; `sample.py` chooses documents without a person; `agreement.py`, `overview.py`
and `train.py` say what the labels are worth.
Only the store needs a package of the extra `judge`, and only `web/` needs all of them.
"""
