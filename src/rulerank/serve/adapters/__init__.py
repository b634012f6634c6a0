"""A Reranker with the interfaces of other libraries, one thin file each, which imports its library.

`pyterrier.py`, `haystack.py`, `langchain.py`, `llama_index.py`; `documents.py` is shared: it converts texts with
metadata to documents, and results to metadata.
"""
