"""Dumps: files, archives and the layouts that people have."""
