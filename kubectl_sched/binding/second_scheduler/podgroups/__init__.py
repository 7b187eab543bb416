"""Groups of pods in `bind --watch`: whose pods stand in the queue together, and the attempts to place them."""
