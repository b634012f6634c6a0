"""Which document to label next: selective sampling with association rules."""
