"""The systems a suite can be run against, one file each; `open_target` finds the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.errors import TargetError
from evals.targets.base import Ranked, Target

__all__ = ["Ranked", "Target", "open_target"]


def open_target(
    spec: str,
    *,
    overrides: Mapping[str, str] | None = None,
    documents: Sequence[Path] | None = None,
    key: str | None = None,
) -> Target:
    """The target of a specification: `advisor`, `baseline`, `http(s)://HOST` or `openai:URL#MODEL`.

    Raises:
        TargetError: it is none of these.
    """
    if spec == "advisor":
        from evals.targets.in_process import InProcessTarget

        return InProcessTarget(overrides, documents)
    if spec == "baseline":
        from evals.baseline import BaselineTarget

        return BaselineTarget(documents)
    if spec.startswith(("http://", "https://")):
        from evals.targets.http import HttpTarget

        return HttpTarget(spec, key)
    endpoint = re.fullmatch(r"openai:(https?://[^#]+)#(.+)", spec)
    if endpoint:
        from evals.targets.openai import OpenAITarget

        return OpenAITarget(endpoint[1], endpoint[2], key)
    raise TargetError(f"--target {spec!r} is none of: advisor, baseline, http://HOST, openai:URL#MODEL.")
