"""Questions that were not answered well: collected, answered with documents, and turned into an evaluation suite."""
