"""Gradio's theme with fonts of the system alone, so that no font is fetched."""

from __future__ import annotations

import gradio as gr

_SANS = (
    "ui-sans-serif",
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "sans-serif",
)
_MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Noto Sans Mono CJK SC", "monospace")


def theme() -> gr.themes.Base:
    """The look of Gradio's own parts."""
    return gr.themes.Base(primary_hue="teal", neutral_hue="slate", font=list(_SANS), font_mono=list(_MONO))
