"""Changes that would help, each verified by a replay."""
