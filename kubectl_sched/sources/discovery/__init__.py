"""The schedulers of a cluster and the configuration of each."""
