"""The room that is left: shapes of pods, how many more of each fit, and what is free by pool and zone."""
