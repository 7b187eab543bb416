"""Makes room by evicting pods of lower priority (pkg/scheduler/framework/plugins/defaultpreemption)."""
