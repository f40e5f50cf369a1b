"""Gradio's side of the web app: one page for each thing that people come for."""

from __future__ import annotations

import gradio as gr

from assistant.advisor import Advisor
from ui import calculators, chat, dashboard, evaluations, library, review
from ui.prices import Prices


def build(advisor: Advisor, prices: Prices) -> gr.Blocks:
    """All pages."""
    blocks: gr.Blocks
    with gr.Blocks(title="Cloud Training Advisor", analytics_enabled=False, fill_width=True) as blocks:
        chat.build(advisor, prices)
    with blocks.route("Calculators", "/calculators"):
        calculators.build()
    with blocks.route("Library", "/library"):
        library.build()
    with blocks.route("Evaluations", "/evaluations"):
        evaluations.build()
    with blocks.route("Review", "/review"):
        review.build()
    with blocks.route("Dashboard", "/dashboard"):
        dashboard.build()
    blocks.queue(default_concurrency_limit=None, api_open=False)
    return blocks
