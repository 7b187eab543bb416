"""FailedScheduling texts taken apart and put into plain words."""
