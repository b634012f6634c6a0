"""A Reranker behind other libraries' interfaces: one thin file each, which loads its library when it is imported.

`pyterrier.py`, `rerankers.py`, `haystack.py`, `langchain.py`, `llama_index.py`; `documents.py` is what they share: from
a text with metadata to a document that a Reranker takes, and from a result to metadata.
"""
