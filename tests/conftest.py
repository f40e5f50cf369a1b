"""For all tests: what is right doesn't depend on how fast the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
