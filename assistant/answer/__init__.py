"""From passages and calculations to a checked answer."""
