"""Why this score, why A above B, what would change it: exact answers, because a score is a sum of votes."""
