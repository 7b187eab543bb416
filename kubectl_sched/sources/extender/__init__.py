"""Extenders asked over HTTP."""
