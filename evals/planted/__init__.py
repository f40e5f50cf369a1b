"""Answers with planted faults: what the checks of free text remove, and what they lose of what is true."""
