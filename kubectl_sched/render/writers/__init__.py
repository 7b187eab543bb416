"""Writers draw a Document, and decide nothing: text for a terminal or a pipe, Markdown, a page, data."""
