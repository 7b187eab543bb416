"""The Kubernetes objects, holding only the fields that the scheduler reads or the explanation shows."""
