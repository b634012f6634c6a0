"""Pictures of experiments, drawn with Matplotlib (the extra `figures`)."""
