"""Instance types, their offerings and where they come from (pkg/cloudprovider)."""
