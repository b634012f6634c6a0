"""What everything stands on and that knows nothing of ranking: checks, compiled loops, threads, progress, words."""
