"""The errors of the evaluation layer."""

from __future__ import annotations

from knowledge.errors import AdvisorError


class SuiteError(AdvisorError):
    """A suite can't be read as one: the message names the file, the line and the field."""


class RunError(AdvisorError):
    """A stored run is missing, unfinished, or not comparable with the other one."""


class TargetError(AdvisorError):
    """The system under test can't be reached or doesn't answer as its kind should."""
