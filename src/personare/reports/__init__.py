"""Findings become something to look at: HTML, Markdown, JSON, plots."""
