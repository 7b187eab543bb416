"""The answer about groups of pods: its sentence, its tables, and every output."""
