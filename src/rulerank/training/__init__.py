"""From data to a ranker: try settings, choose on validation data, learn from few labels in a pool."""
