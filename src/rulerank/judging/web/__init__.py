"""The judging page: a small web application on this machine (the extra `judge`)."""
