"""Line icons as SVG."""

from __future__ import annotations

_PATHS = {
    "edit": "M4 20h4L19 9l-4-4L4 16v4zM13 7l4 4",
    "copy": "M9 9h11v11H9zM5 15H4V4h11v1",
    "retry": "M4 12a8 8 0 1 1 2.5 5.8M4 19v-5h5",
    "up": "M7 11v9H4v-9zM7 11l4-8a2 2 0 0 1 2 2v4h6l-2 11H7",
    "down": "M7 13V4H4v9zM7 13l4 8a2 2 0 0 0 2-2v-4h6L17 4H7",
    "delete": "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
    "rename": "M4 20h4L19 9l-4-4L4 16v4zM13 7l4 4",
    "theme": "M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z",
    "attach": "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.5 17a1.7 1.7 0 0 1-2.4-2.4L15 7",
}


def icon(name: str) -> str:
    """An icon; what it stands for is said by the label of its button."""
    return f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{_PATHS[name]}"/></svg>'
