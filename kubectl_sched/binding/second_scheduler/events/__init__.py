"""Events that are written late: once a server is there again, or for a replica that was killed."""
