"""The shapes of answers as data, and their JSON Schemas."""
