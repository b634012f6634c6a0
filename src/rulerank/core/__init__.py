"""What everything stands on and that knows nothing of ranking; imported file by file.

`parameters.py` is the one table of parameters a class has, with `checks.py` below it; `compiled.py` marks compiled
loops and sorts inside them, `threads.py` runs them over all cores and keeps matrix products to one thread;
`progress.py` is the one progress bar, `words.py` makes phrases, `arrays.py` names the type of our arrays, and
`lazy.py` makes the surfaces of packages that load when used.
"""
