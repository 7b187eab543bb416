"""The autoscaler's side of a question: the nodes that would be made, are starting, or are about to go."""
