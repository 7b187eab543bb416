"""The pods and claims that Kubernetes' controllers would make or remove."""
