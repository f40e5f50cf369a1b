"""A run for people and machines: terminal table, HTML, Markdown, JUnit XML."""
