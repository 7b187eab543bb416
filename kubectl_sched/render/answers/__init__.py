"""Answers as Documents, one file for each query, and as the data of the contract."""
