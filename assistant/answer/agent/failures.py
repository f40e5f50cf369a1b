"""What can go wrong with a chat model, told in the reader's language and without the vendor's own text.

A vendor's message may quote the key or the prompt, so it is neither shown nor logged.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from assistant.errors import AdvisorError
from assistant.schema import Language

Kind = Literal[
    "no package", "unknown vendor", "no key", "wrong key", "forbidden", "unknown model", "bad request", "rate", "quota",
    "server", "connection", "timeout", "context", "refused", "empty", "unsupported", "steps", "tokens", "seconds",
    "cost", "day", "other",
]  # fmt: skip

_RETRYABLE = frozenset(["rate", "server", "connection", "timeout"])
_WORDS: dict[Kind, dict[Language, str]] = {
    "no package": {"zh": "没有安装它的软件包，请运行 pip install {detail}", "en": "its package is not installed; run pip install {detail}"},
    "unknown vendor": {"zh": "ADVISOR_MODEL 的写法应为 vendor:name，而它是 {detail}", "en": "ADVISOR_MODEL must read vendor:name, it is {detail}"},
    "no key": {"zh": "没有密钥，请设置 {detail} 或 ADVISOR_MODEL_API_KEY", "en": "there is no key; set {detail} or ADVISOR_MODEL_API_KEY"},
    "wrong key": {"zh": "密钥被拒绝", "en": "the key was refused"},
    "forbidden": {"zh": "该密钥无权使用这个模型", "en": "the key may not use this model"},
    "unknown model": {"zh": "服务端没有这个模型，请检查 ADVISOR_MODEL", "en": "the server has no such model; check ADVISOR_MODEL"},
    "bad request": {"zh": "请求被拒绝", "en": "the request was rejected"},
    "rate": {"zh": "请求过于频繁", "en": "too many requests"},
    "quota": {"zh": "额度已用完", "en": "the quota is used up"},
    "server": {"zh": "服务端出错", "en": "the server failed"},
    "connection": {"zh": "连接不上或连接中断，请检查网络和 ADVISOR_MODEL_BASE_URL", "en": "it could not be reached or the connection broke; check the network and ADVISOR_MODEL_BASE_URL"},
    "timeout": {"zh": "超时没有回应", "en": "it did not respond in time"},
    "context": {"zh": "内容超过了它能读的长度", "en": "the conversation is longer than it can read"},
    "refused": {"zh": "它拒绝作答", "en": "it declined to answer"},
    "empty": {"zh": "回答是空的", "en": "its answer was empty"},
    "unsupported": {"zh": "它的说法没有一句通过来源核对", "en": "nothing it said passed the source check"},
    "steps": {"zh": "达到了步数上限（ADVISOR_MODEL_MAX_STEPS）", "en": "the limit of steps was reached (ADVISOR_MODEL_MAX_STEPS)"},
    "tokens": {"zh": "达到了每个问题的 token 上限（ADVISOR_MODEL_MAX_TOKENS）", "en": "the limit of tokens for a question was reached (ADVISOR_MODEL_MAX_TOKENS)"},
    "seconds": {"zh": "达到了每个问题的时间上限（ADVISOR_MODEL_MAX_SECONDS）", "en": "the limit of seconds for a question was reached (ADVISOR_MODEL_MAX_SECONDS)"},
    "cost": {"zh": "达到了每个问题的费用上限（ADVISOR_MODEL_MAX_COST）", "en": "the limit of cost for a question was reached (ADVISOR_MODEL_MAX_COST)"},
    "day": {"zh": "达到了当天的上限（{detail}）", "en": "the limit for today was reached ({detail})"},
    "other": {"zh": "出现意外错误（{detail}）", "en": "an unexpected error ({detail})"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """One way that a call failed."""

    kind: Kind
    detail: str = ""
    retry_after: float | None = None
    """Seconds that the server asked to wait."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.kind in _RETRYABLE

    def words(self, language: Language) -> str:
        """What happened, without a full stop."""
        return _WORDS[self.kind][language].format(detail=self.detail)


class ModelFailed(AdvisorError):
    """The chat model can't be used for this question; the grounded composer answers instead."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"The chat model can't be used: {failure.words('en')}.")
        self.failure = failure


def failure_of(error: BaseException) -> Failure:
    """What an error of LangChain, a vendor's client or HTTP means."""
    if isinstance(error, ModelFailed):
        return error.failure
    for one in _chain(error):
        if (found := _one(one)) is not None:
            return found
    return Failure("other", type(error).__name__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _one(error: BaseException) -> Failure | None:
    import httpx
    from langchain_core import exceptions as core

    status, text = _status(error), str(error).casefold()
    if isinstance(error, core.ContextOverflowError) or (status in (400, 413, 422) and _is_overflow(text)):
        return Failure("context")
    if isinstance(error, core.ModelRefusalError):
        return Failure("refused")
    if status is not None:
        return _by_status(error, status, text)
    if isinstance(error, core.ModelTimeoutError | httpx.TimeoutException | TimeoutError) or "timed out" in text:
        return Failure("timeout")
    if isinstance(error, core.ModelConnectionError | httpx.TransportError | ConnectionError):
        return Failure("connection")
    kinds: tuple[tuple[type[BaseException], Kind], ...] = (
        (core.ModelAuthenticationError, "wrong key"),
        (core.ModelPermissionDeniedError, "forbidden"),
        (core.ModelNotFoundError, "unknown model"),
        (core.ModelRateLimitError, "rate"),
        (core.ModelAPIError, "server"),
        (core.ModelInvalidRequestError, "bad request"),
    )
    for kind_of_error, kind in kinds:
        if isinstance(error, kind_of_error):
            return Failure(kind)
    name = type(error).__name__
    if isinstance(error, ValueError) and "no generation" in text:
        return Failure("connection")
    if "Timeout" in name:
        return Failure("timeout")
    if "Connection" in name:
        return Failure("connection")
    if name in ("APIError", "ResponseError", "JSONDecodeError") or (isinstance(error, ValueError) and "json" in text):
        return Failure("server")
    return None


def _by_status(error: BaseException, status: int, text: str) -> Failure:
    if status == 401:
        return Failure("wrong key")
    if status == 402 or "insufficient_quota" in text or "insufficient balance" in text:
        return Failure("quota")
    if status == 403:
        return Failure("forbidden")
    if status == 404:
        return Failure("unknown model")
    if status in (408, 504):
        return Failure("timeout")
    if status in (425, 429, 529):
        return Failure("rate", retry_after=_retry_after(error))
    if status >= 500:
        return Failure("server", retry_after=_retry_after(error))
    return Failure("bad request")


def _status(error: BaseException) -> int | None:
    value = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return value if isinstance(value, int) and value >= 400 else None


def _is_overflow(text: str) -> bool:
    return any(
        sign in text for sign in ("context length", "context_length", "maximum context", "too long", "too many tokens")
    )


def _retry_after(error: BaseException) -> float | None:
    """Seconds of the header `Retry-After` (RFC 9110 section 10.2.3: seconds or a date), or `retry-after-ms`."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        given = headers.get("retry-after")
        if not given:
            return None
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(str(given))
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())
