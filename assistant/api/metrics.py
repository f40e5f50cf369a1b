"""What Prometheus reads at /metrics: requests, answers and their phases, what is indexed; never what was asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.api.access import Caller, requires
from assistant.api.service import Service
from assistant.api.watching import Watched
from assistant.errors import AdvisorError
from assistant.schema import Answer

PATH = "/metrics"
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_OTHER = "other"

router = APIRouter()


class Metrics:
    """The measurements of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "advisor_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "advisor_request_seconds",
            "From the request to the last byte of its answer.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._in_flight = Gauge("advisor_requests_in_flight", "Requests being answered.", registry=self.registry)
        self._answers = Counter(
            "advisor_answers", "Answers given.", ("status", "language", "model"), registry=self.registry
        )
        self._tool_runs = Counter("advisor_tool_runs", "Calculations in answers.", ("tool",), registry=self.registry)
        self._phases = Histogram(
            "advisor_answer_phase_seconds", "Time by phase.", ("phase",), buckets=_SECONDS, registry=self.registry
        )
        ProcessCollector(registry=self.registry)

    def watch(self, service: Service) -> None:
        """Count the answers of an application, and look at its store whenever the figures are read."""
        service.advisor.observers.append(self.count)
        self.registry.register(_Store(service))

    def count(self, answer: Answer) -> None:
        """One answer."""
        self._answers.labels(answer.status, answer.language, answer.model).inc()
        for run in answer.tool_runs:
            self._tool_runs.labels(run.tool).inc()
        for phase, milliseconds in answer.timings_ms.model_dump().items():
            self._phases.labels(phase).observe(milliseconds / 1000)

    def begin(self) -> None:
        """A request has come."""
        self._in_flight.inc()

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request is answered."""
        self._in_flight.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)


class Measured:
    """ASGI middleware that times each request under its route's pattern, so that addresses make no new series."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        watched = Watched(send)
        self._metrics.begin()
        try:
            await self._app(scope, receive, watched)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else _OTHER
            self._metrics.end(method, _pattern(scope), watched.status, time.perf_counter() - started)


def _pattern(scope: Scope) -> str:
    pattern = getattr(scope.get("route"), "path", None)
    return str(pattern) if pattern else _OTHER


class _Store(Collector):
    """What is indexed, read when Prometheus asks."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def describe(self) -> Iterator[Metric]:
        """Nothing: the store need not be open when the collector is registered."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Readiness, and once ready the size of the store."""
        ready = self._service.why_not_ready is None
        yield GaugeMetricFamily("advisor_ready", "1 while questions are answered.", value=float(ready))
        if not ready:
            return
        try:
            sizes = self._service.advisor.store.sizes()
        except AdvisorError:
            return
        yield GaugeMetricFamily("advisor_documents", "Documents indexed.", value=sizes.documents)
        yield GaugeMetricFamily("advisor_passages", "Passages indexed.", value=sizes.passages)
        yield GaugeMetricFamily("advisor_store_generation", "Changes of the index so far.", value=sizes.generation)


@router.get(PATH, include_in_schema=False)
def metrics(request: Request, _caller: Annotated[Caller, requires("admin")]) -> Response:
    """All figures in Prometheus's text format; for admins, since they count the documents of all groups."""
    measured: Metrics = request.app.state.metrics
    return Response(generate_latest(measured.registry), media_type=CONTENT_TYPE_LATEST)
