"""The cluster autoscaler's part before a scale-up: node groups, their templates and their status."""
