"""Whether a node has room, and how full or balanced it would be (pkg/scheduler/framework/plugins/noderesources)."""
