"""Opens the chat model that the settings name, through LangChain."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.answer.agent.failures import Failure, ModelFailed
from assistant.errors import InvalidInput
from assistant.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "deepseek": "DEEPSEEK_API_KEY"}
_EXTRAS = frozenset(["openai", "anthropic", "ollama", "deepseek"])
_NO_KEY = "no-key-needed"
"""What servers without keys are sent: the client refuses to start without one."""


@dataclass(frozen=True)
class ChatModel:
    """An opened model."""

    name: str
    """`vendor:name`, as in `Answer.model`."""
    chat: BaseChatModel = field(repr=False)

    @property
    def vendor(self) -> str:
        """As OpenTelemetry names providers."""
        return self.name.partition(":")[0]

    @property
    def model(self) -> str:
        """The vendor's name for it."""
        return self.name.partition(":")[2]


def open_model(settings: Settings) -> ChatModel:
    """The model of `ADVISOR_MODEL`.

    Raises:
        ModelFailed: no such vendor, its package is missing, or there is no key.
    """
    vendor, colon, model = settings.model.partition(":")
    vendor = vendor.strip().lower()
    if not colon or not vendor or not model.strip():
        raise ModelFailed(Failure("unknown vendor", repr(settings.model)))
    key = _key(settings)
    if vendor in _KEYS and not key and not os.environ.get(_KEYS[vendor], "").strip():
        if settings.model_base_url is None or vendor != "openai":
            raise ModelFailed(Failure("no key", _KEYS[vendor]))
        key = _NO_KEY
    from langchain.chat_models import init_chat_model

    try:
        chat = init_chat_model(model.strip(), model_provider=vendor, **_arguments(vendor, settings, key))
    except ImportError as error:
        package = f"'cloud-training-advisor[{vendor}]'" if vendor in _EXTRAS else f"langchain-{vendor}"
        raise ModelFailed(Failure("no package", package)) from error
    except ValueError as error:
        raise ModelFailed(Failure("unknown vendor", repr(settings.model))) from error
    return ChatModel(f"{vendor}:{model.strip()}", chat)


def _arguments(vendor: str, settings: Settings, key: str | None) -> dict[str, Any]:
    timeout = settings.model_silence_seconds
    arguments: dict[str, Any] = {}
    if settings.model_temperature is not None:
        arguments["temperature"] = settings.model_temperature
    if settings.model_base_url:
        arguments["api_base" if vendor == "deepseek" else "base_url"] = settings.model_base_url
    if vendor == "ollama":
        headers = {"headers": {"Authorization": f"Bearer {key}"}} if key else {}
        arguments |= {
            "num_predict": settings.model_max_output_tokens,
            "num_ctx": settings.model_context_tokens,
            "client_kwargs": {"timeout": timeout, **headers},
        }
        return arguments
    arguments |= {"max_tokens": settings.model_max_output_tokens, "timeout": timeout, "max_retries": 0}
    if vendor in ("openai", "deepseek"):
        arguments["stream_usage"] = True
    if vendor == "openai" and settings.model_base_url:
        arguments["use_responses_api"] = False
    if key:
        arguments["api_key"] = key
    return arguments


def _key(settings: Settings) -> str | None:
    """The key of the settings; the vendor's own variable is read by its client.

    Raises:
        InvalidInput: the secret file can't be read or is empty.
    """
    if settings.model_api_key is not None:
        return settings.model_api_key.get_secret_value().strip() or None
    if settings.model_api_key_file is None:
        return None
    try:
        text = settings.model_api_key_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"ADVISOR_MODEL_API_KEY_FILE {settings.model_api_key_file} can't be read.") from error
    if not text:
        raise InvalidInput(f"ADVISOR_MODEL_API_KEY_FILE {settings.model_api_key_file} is empty.")
    return text
