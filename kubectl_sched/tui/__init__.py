"""The interactive explorer: a decision walked through, asked why not, and changed on the spot."""
