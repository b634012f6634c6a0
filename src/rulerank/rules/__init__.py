"""The engine: counts per set of features, votes derived from them, and the rules behind a score."""
