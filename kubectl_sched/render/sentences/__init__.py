"""The clauses and sentences of which answers are made."""
