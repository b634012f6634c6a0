"""What voted for one score, for every kind of ranker: rankers make ballots, `explain` reads them."""
