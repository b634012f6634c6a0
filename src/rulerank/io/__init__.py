"""Files in and out: LETOR text, tables, TREC runs and qrels, and folds of them."""
