"""Rules that say the same in every query: what is counted for them, and how they vote."""
