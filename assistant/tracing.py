"""OpenTelemetry spans of searches, tools, model calls and checks, after the GenAI conventions; off by default.

Names and attributes follow the semantic conventions for generative AI (opentelemetry.io/docs/specs/semconv/gen-ai).
Neither questions nor answers are put into spans.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.errors import InvalidInput

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_NAMES = {
    "operation": "gen_ai.operation.name",
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "tool": "gen_ai.tool.name",
    "conversation": "gen_ai.conversation.id",
    "error": "error.type",
}
T = TypeVar("T")

_TRACER = "cloud-training-advisor"
_provider: TracerProvider | None = None


class Span:
    """Takes attributes by the short names of this module; does nothing while tracing is off."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def set(self, **attributes: str | int | float | bool | None) -> None:
        """Add attributes; None is left out."""
        if self._span is not None:
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(_NAMES.get(name, f"advisor.{name}"), value)


def start(endpoint: str) -> None:
    """Export spans to an OTLP/HTTP collector ("http://host:4318") from now on.

    Raises:
        InvalidInput: the packages of the extra `tracing` are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidInput(
            "ADVISOR_TRACING_ENDPOINT is set but OpenTelemetry is not installed: "
            "pip install 'cloud-training-advisor[tracing]', or unset it."
        ) from error
    use(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")))


def use(processor: Any) -> None:
    """Send spans to a span processor of the OpenTelemetry SDK."""
    global _provider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    _provider = TracerProvider(resource=Resource.create({"service.name": _TRACER}))
    _provider.add_span_processor(processor)


def stop() -> None:
    """Send what is waiting and make no more spans."""
    global _provider
    if _provider is not None:
        _provider.shutdown()
    _provider = None


def in_one_context(events: Iterator[T]) -> Iterator[T]:
    """The same events, made in one context: whoever takes them may do so in another thread each time, and a span that
    is open meanwhile stays the one that others are parts of."""
    context = copy_context()
    try:
        while True:
            try:
                event = context.run(next, events)
            except StopIteration:
                return
            yield event
    finally:
        if isinstance(events, Generator):
            context.run(events.close)


@contextmanager
def span(name: str, **attributes: str | int | float | bool | None) -> Iterator[Span]:
    """A span around some work; an error is recorded by its type alone."""
    if _provider is None:
        yield Span()
        return
    from opentelemetry.trace import Status, StatusCode

    tracer = _provider.get_tracer(_TRACER)
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as made:
        wrapped = Span(made)
        wrapped.set(**attributes)
        try:
            yield wrapped
        except Exception as error:
            wrapped.set(error=type(error).__name__)
            made.set_status(Status(StatusCode.ERROR))
            raise
