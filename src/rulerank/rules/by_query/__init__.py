"""Each training query's own rules, how competent they are for other queries' documents, and the trusted few."""
