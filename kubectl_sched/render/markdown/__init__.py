"""Answers as Markdown, for chats and issues."""
