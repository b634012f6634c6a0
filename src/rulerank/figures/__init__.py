"""Pictures of what rankers have learned, drawn with Matplotlib (the extra `figures`)."""
