"""The web app: Gradio's pages and the page's own routes, mounted on the HTTP API under one frame."""

from __future__ import annotations

import logging
import warnings
from threading import Thread

from fastapi import FastAPI

from assistant.advisor import Advisor
from assistant.errors import AdvisorError
from assistant.tools.registry import describe
from ui import widget
from ui.attachment_routes import attachment_routes
from ui.dashboard import dashboard_routes
from ui.evaluation_routes import evaluation_routes
from ui.evaluations import Evaluations
from ui.jobs import Jobs
from ui.library_routes import library_routes, price_routes
from ui.page import STATIC, PageFrame, Static
from ui.prices import Prices
from ui.review import review_routes
from ui.routes import calculator_routes, chat_routes, plotly_script


def _warm_up(advisor: Advisor) -> None:
    """Load what the first question would wait for."""
    try:
        advisor.searcher.search("warm up", 1)
        _ = advisor.intents, advisor.conversations
        describe("en")
    except AdvisorError as error:
        logging.getLogger(__name__).warning("%s", error)


def mount(app: FastAPI, advisor: Advisor, evaluations: Evaluations) -> FastAPI:
    """The application with the web app at its root."""
    import gradio as gr

    Thread(target=_warm_up, args=(advisor,), daemon=True).start()
    jobs = Jobs()
    prices = Prices(advisor.settings.data_dir / "price-files")
    app.include_router(chat_routes(advisor))
    app.include_router(attachment_routes(advisor))
    app.include_router(calculator_routes(prices))
    app.include_router(library_routes(advisor, jobs))
    app.include_router(price_routes(prices))
    app.include_router(evaluation_routes(evaluations, jobs))
    app.include_router(review_routes(advisor))
    app.include_router(dashboard_routes(advisor))
    app.add_api_route("/widget.js", widget.serve, include_in_schema=False)
    app.add_api_route("/ui/plotly.js", plotly_script, include_in_schema=False)
    app.mount("/ui/static", Static(directory=STATIC), name="static")
    app.add_middleware(PageFrame)
    from ui.pages import build
    from ui.theme import theme

    with warnings.catch_warnings():
        # Gradio warns that several pages rule out rendering on the server, which isn't wanted anyway.
        warnings.filterwarnings("ignore", message="SSR mode is not supported")
        mounted: FastAPI = gr.mount_gradio_app(
            app,
            build(advisor, prices),
            path="/",
            theme=theme(),
            footer_links=[],
            run_history=False,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            enable_monitoring=False,
            favicon_path=str(STATIC / "favicon.png"),
        )
    return mounted
