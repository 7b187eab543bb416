"""The questions that people ask: a frozen question in, a frozen answer out."""
