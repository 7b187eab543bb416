"""Facts in the objects that no plugin reads, and that explain a verdict or spoil a start."""
