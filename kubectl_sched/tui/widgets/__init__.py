"""The parts of the screens. Each widget draws the lines that it is given and reports the key that was meant."""
