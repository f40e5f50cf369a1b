"""What the assistant knows and how it is found: documents, store, search, catalog, quantities."""
