"""A cluster that runs: which one, as whom, and what is read of it.

Nothing here is imported where a dump is read: TLS and HTTP cost as much time as the whole of a small answer.
"""
