"""Prints the size of the widget's script: `python -m ui.widget`."""

from __future__ import annotations

import sys

from ui.widget import LIMIT_BYTES, compressed, script

size = len(compressed())
print(f"widget.js: {len(script().encode()):,} bytes, {size:,} compressed (limit {LIMIT_BYTES:,})")
sys.exit(0 if size <= LIMIT_BYTES else "The widget is too large.")
