"""Chat platforms: a question in a channel or a direct message is answered there, with its sources."""
