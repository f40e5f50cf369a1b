"""Finds a channel by name and imports only its module."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from assistant.bots import channels
from assistant.bots.errors import ChannelError
from assistant.errors import InvalidInput

if TYPE_CHECKING:
    from assistant.bots.base import Bot


def names() -> list[str]:
    """The channels: the modules of their package."""
    return sorted(module.name for module in iter_modules(channels.__path__))


def bot_type(name: str) -> type[Bot]:
    """The bot of a channel.

    Raises:
        InvalidInput: there is no such channel.
        ChannelError: what it needs isn't installed.
    """
    if name not in names():
        raise InvalidInput(f"There is no channel '{name}'. There are: {', '.join(names())}.")
    from assistant.bots.base import Bot

    module = import_module(f"{channels.__name__}.{name}")
    found = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Bot)]
    bot = next(kind for kind in found if kind.__module__ == module.__name__)
    missing = [package for package in bot.requires if find_spec(package) is None]
    if missing:
        raise ChannelError(
            f"The channel {name} needs what isn't installed: {', '.join(missing)}. Install it with: "
            f"pip install 'cloud-training-advisor[{name}]'"
        )
    return bot
