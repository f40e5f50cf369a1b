"""Sources: is one of the places that answer the question cited (document and section)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from assistant.schema import Answer
from evals.metrics.base import Score
from evals.schema import Case, ExpectedSource
from evals.text import normalise


def is_at(source: ExpectedSource, names: list[str], section: str) -> bool:
    """Whether a passage with these names (document id, title, location) and heading path is the expected place."""
    known = {name.lower() for name in names if name}
    known |= {PurePosixPath(name).name for name in known}
    if not any(fnmatchcase(name, source.document.lower()) for name in known):
        return False
    return source.section is None or re.search(source.section, normalise(section), re.I) is not None


class SourcesMetric:
    """1 when at least one expected place is cited."""

    name = "sources"

    def score(self, case: Case, answer: Answer) -> Score | None:
        """Applies to cases with expected sources."""
        if not case.expect.sources:
            return None
        for citation in answer.citations:
            names = [citation.document_id, citation.title, citation.location]
            if any(is_at(source, names, citation.section) for source in case.expect.sources):
                return Score(1.0)
        cited = sorted({f"{c.title} > {c.section}" for c in answer.citations})
        return Score(0.0, "cited instead: " + " | ".join(cited) if cited else "nothing cited")
