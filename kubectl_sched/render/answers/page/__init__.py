"""The folding page of `explain`: what every node and plugin said, as values for its template."""
