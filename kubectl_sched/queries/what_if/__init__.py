"""The question of a what-if, and the stages of its answer."""
