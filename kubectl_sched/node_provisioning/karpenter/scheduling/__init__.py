"""Requirements, taints, host ports, resources and volumes (pkg/scheduling)."""
