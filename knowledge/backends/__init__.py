"""Where vectors are kept and found: exactly in memory, in clusters on disk, or in a database of their own."""
