"""Writes docs/settings.md from the settings themselves: `python -m evals.settings_page`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from assistant.api.settings import ServiceSettings
from assistant.api.widget.settings import WidgetSettings
from assistant.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
_HEAD = """# Settings

All are environment variables; `advisor doctor` shows which values are in force. Made by `make settings`. The settings
of chat platforms stand in [channels.md](channels.md).
"""
_KINDS: tuple[tuple[str, type[BaseSettings]], ...] = (
    ("The assistant", Settings),
    ("The service", ServiceSettings),
    ("The widget", WidgetSettings),
)


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(line for title, kind in _KINDS for line in _table(title, kind))])


def _table(title: str, kind: type[BaseSettings]) -> Iterator[str]:
    prefix = kind.model_config.get("env_prefix", "")
    yield f"## {title}\n"
    yield "| Variable | Default | What it does |"
    yield "|---|---|---|"
    together: list[tuple[str, str]] = []  # settings of one kind share the description of the last
    for name, field in kind.model_fields.items():
        together.append((f"`{prefix}{name.upper()}`", _default(field)))
        if field.description or name == [*kind.model_fields][-1]:
            names, defaults = ("<br>".join(column) for column in zip(*together, strict=True))
            yield f"| {names} | {defaults} | {' '.join((field.description or '').split())} |"
            together = []
    yield ""


def _default(field: FieldInfo) -> str:
    value = field.default
    if field.default_factory is not None or value is PydanticUndefined:
        return "the user's data folder" if field.annotation is Path else ""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value in ("", (), []):
        return ""
    return f"`{value.value if isinstance(value, Enum) else value}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
