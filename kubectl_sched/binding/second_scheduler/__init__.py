"""`bind --watch`: a second scheduler that goes on deciding for every pending pod of its schedulerNames."""
