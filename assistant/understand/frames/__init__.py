"""How each calculator is asked for in words, one file a calculator."""

from __future__ import annotations

from assistant.understand.slots import Frame

FRAMES: tuple[Frame, ...] = ()
