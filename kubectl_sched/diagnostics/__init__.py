"""Facts about a pod besides its cycle: its lifecycle, its history, what schedulers said."""
