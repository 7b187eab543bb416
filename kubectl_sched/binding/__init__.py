"""Binding pods of a running cluster: the binding cycle once, and a second scheduler that watches."""
