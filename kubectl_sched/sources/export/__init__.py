"""The snapshot file, as it is or anonymized."""
