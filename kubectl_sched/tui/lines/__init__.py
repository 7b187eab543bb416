"""Lines of text with a meaning for each piece, before any colour."""
