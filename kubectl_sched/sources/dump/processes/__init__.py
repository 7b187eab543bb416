"""Processes beside this one that expand what is compressed and take the indentation out of large lists."""
