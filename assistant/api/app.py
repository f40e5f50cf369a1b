"""The FastAPI application: middleware, routers, errors. The web chat is mounted on it by the command line."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from threading import Thread

from fastapi import APIRouter, FastAPI
from fastapi.middleware import Middleware
from fastapi.middleware.cors import CORSMiddleware
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from assistant import __version__
from assistant.advisor import Advisor
from assistant.api import mcp, metrics, openai_compat, problems
from assistant.api.access.audit import Audit
from assistant.api.access.gate import Forwarded, Gate
from assistant.api.crosssite import SameSite
from assistant.api.frame import REQUEST_ID, BodyLimit, Frame
from assistant.api.idempotency import HEADER, Idempotency
from assistant.api.logs import AccessLog
from assistant.api.metrics import Measured, Metrics
from assistant.api.problems import problem
from assistant.api.routes import (
    ask,
    audit,
    catalog,
    collections,
    conversations,
    documents,
    feedback,
    health,
    search,
    tools,
)
from assistant.api.service import Service
from assistant.api.settings import ServiceSettings, load_service_settings
from assistant.api.widget import routes as widget
from assistant.api.widget.origins import WidgetOrigins
from assistant.api.widget.settings import WidgetSettings, load_widget_settings
from assistant.errors import AdvisorError

ROUTERS: tuple[APIRouter, ...] = (
    ask.router,
    conversations.router,
    feedback.router,
    search.router,
    documents.router,
    collections.router,
    tools.router,
    catalog.router,
    audit.router,
    health.router,
    openai_compat.router,
    metrics.router,
    widget.router,
)
"""One a resource; `assistant.api` says how to add one."""
_DESCRIPTION = (
    "Ask in Chinese or English how to train models in the cloud. Every statement of an answer cites an exact span of "
    "an indexed document, every number comes from a calculation that shows its inputs. Errors are RFC 9457 problems; "
    "a write with an `Idempotency-Key` is done once; `X-Request-Id` names a request in the server's log."
)
_LOG = logging.getLogger(__name__)


def create_app(
    advisor: Advisor, settings: ServiceSettings | None = None, widget_settings: WidgetSettings | None = None
) -> FastAPI:
    """The application over one advisor.

    Args:
        advisor: answers the questions.
        settings: of the service; None reads them from the environment.
        widget_settings: of the widget; None reads them from the environment.

    Raises:
        InvalidInput: the settings in the environment make no sense.
    """
    settings = settings or load_service_settings()
    widget_settings = widget_settings or load_widget_settings()
    service = Service(advisor, settings)
    measured = Metrics()
    app = FastAPI(
        title="Cloud Training Advisor",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        middleware=_middleware(service, measured, widget_settings),
        lifespan=_lifespan,
    )
    app.state.service = service
    app.state.metrics = measured
    app.state.mcp = mcp.Endpoint(advisor)
    measured.watch(service)
    app.state.widget = widget.Widget(service, widget_settings)
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.append(Route(mcp.PATH, app.state.mcp, include_in_schema=False))
    app.router.routes.append(Route("/v1/{path:path}", _Unknown(ROUTERS), include_in_schema=False))
    return app


def _middleware(service: Service, measured: Metrics, widget_settings: WidgetSettings) -> list[Middleware]:
    """Outermost first."""
    settings = service.settings
    origins = settings.listed("cors_origins")
    cors = [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PATCH", "PUT", "DELETE"],
            allow_headers=["authorization", "content-type", HEADER, REQUEST_ID],
            expose_headers=[REQUEST_ID, "retry-after"],
        )
    ]
    return [
        Middleware(Frame),
        Middleware(AccessLog),
        Middleware(Measured, metrics=measured),
        Middleware(WidgetOrigins, origins=widget_settings.allowed),
        *(cors if origins else []),
        Middleware(Forwarded, proxies=settings.listed("trusted_proxies")),
        Middleware(BodyLimit, request_bytes=settings.max_request_bytes, upload_bytes=settings.max_upload_bytes),
        Middleware(SameSite, origins=origins),
        Middleware(Gate, settings=settings, keys=service.keys),
        Middleware(Audit, log=service.audit),
        Middleware(Idempotency, memory=service.memory),
    ]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Opens the index in the background, so that probes are answered meanwhile; serves MCP; leaves uploads in order."""
    Thread(target=_open, args=(app.state.service,), name="open-index", daemon=True).start()
    async with app.state.mcp.running():
        yield
    app.state.service.ingests.close()


def _open(service: Service) -> None:
    try:
        service.open()
        service.ingests.open()
    except AdvisorError as error:
        _LOG.error("%s", error)


class _Unknown:
    """Answers what no route of the API takes, so that it doesn't fall through to the web app."""

    def __init__(self, routers: Sequence[APIRouter]) -> None:
        self._routes = [route for router in routers for route in router.routes if isinstance(route, Route)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """404, or 405 with the methods that the address takes."""
        methods: set[str] = set()
        for route in self._routes:
            if route.matches(scope)[0] is Match.PARTIAL:
                methods |= route.methods or set()
        if methods:
            allow = {"allow": ", ".join(sorted(methods))}
            detail = "This address doesn't take this method. The header Allow says which it takes."
            answer = problem(scope, 405, "method_not_allowed", detail, allow)
        else:
            detail = "There is nothing at this address. The API's schema is at /openapi.json."
            answer = problem(scope, 404, "not_found", detail)
        await answer(scope, receive, send)
