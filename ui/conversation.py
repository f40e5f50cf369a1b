"""A conversation as HTML: questions, answers with their marks, what can be done with each, and the list of all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from assistant.conversations import ConversationSummary
from assistant.events import Stage
from assistant.schema import Answer, Language
from ui.icons import icon
from ui.markdown import answer_html
from ui.words import word

_STAGES: Sequence[Stage] = ("understanding", "searching", "calculating", "writing", "checking")
EXAMPLES: dict[Language, tuple[str, ...]] = {
    "zh": (
        "64 张 H100 训 7B、2T token 要多久？大概多少钱？",
        "怎么防止云上训练的账单失控？",
        "单卡 24 GB 能不能微调 8B 模型？",
        "1 PB 数据走 10 Gbps 专线要传多少天？",
    ),
    "en": (
        "How long do 64 H100s take to train 7B on 2T tokens, and what does it cost?",
        "How do I keep a cloud training bill under control?",
        "Does LoRA of an 8B model fit on one 24 GB GPU?",
        "1 PB over a 10 Gbps line: how many days?",
    ),
}


def turn_html(answer: Answer, number: int, language: Language, *, last: bool = False) -> str:
    """One question with its answer. `number` counts from 1."""
    marks = [str(citation.n) for citation in answer.citations] + [run.n for run in answer.tool_runs]
    follow_ups = "".join(
        f'<button type="button" class="chip ask" data-text="{escape(text)}">{escape(text)}</button>'
        for text in (answer.follow_ups if last else [])
    )
    if follow_ups:
        follow_ups = (
            f'<div class="follow-ups" role="group" aria-label="{word("follow_ups", language)}">{follow_ups}</div>'
        )
    status = "" if answer.status == "answered" else f'<p class="status">{word(answer.status, language)}</p>'
    return (
        f'<section class="turn" data-turn="{number}" data-answer="{answer.id}" '
        f'data-conversation="{answer.conversation_id}">{question_html(answer.question, language)}'
        f'<div class="answer {answer.status}" lang="{"zh-CN" if answer.language == "zh" else "en"}">{status}'
        f'<div class="text">{answer_html(answer.text, marks, language)}</div></div>'
        f"{_actions(answer, language)}"
        f"{follow_ups}</section>"
    )


def question_html(question: str, language: Language) -> str:
    """What was asked, with the button that edits it."""
    return f'<div class="question"><p>{escape(question)}</p>{_button("edit", language)}</div>'


def _actions(answer: Answer, language: Language) -> str:
    sources = len(answer.citations) + len(answer.tool_runs)
    shown = (
        f'<button type="button" class="link show-panel">{word("sources", language)} ({sources})</button>'
        if sources
        else ""
    )
    buttons = "".join(_button(name, language) for name in ("copy", "retry", "up", "down"))
    return (
        f'<div class="actions">{shown}{buttons}<button type="button" class="link why" hidden>'
        f"{word('why_up', language)}</button>"
        '<span class="note" role="status"></span></div>'
    )


def _button(name: str, language: Language) -> str:
    label = word(name, language)
    return f'<button type="button" class="icon {name}" aria-label="{label}" title="{label}">{icon(name)}</button>'


def working_html(question: str, text: str, stage: Stage, language: Language) -> str:
    """The turn that is being answered: the stages so far, and the text that has been released."""
    reached = _STAGES.index(stage)
    steps = "".join(
        f'<li class="{"done" if i < reached else "now" if i == reached else ""}">{word(name, language)}</li>'
        for i, name in enumerate(_STAGES)
    )
    return (
        f'<section class="turn working" aria-busy="true">{question_html(question, language)}'
        f'<ol class="stages" role="status" aria-label="{word(stage, language)}">{steps}</ol>'
        f'<div class="answer"><div class="text">{answer_html(text, (), language)}</div></div></section>'
    )


def failed_html(question: str, reason: str, language: Language) -> str:
    """A turn that could not be answered; nothing of it is stored."""
    return (
        f'<section class="turn failed">{question_html(question, language)}'
        f'<div class="answer"><p class="error" role="alert">{escape(reason)}</p></div>'
        f'<div class="actions">{_button("retry", language)}</div></section>'
    )


def conversation_html(answers: Sequence[Answer], language: Language) -> str:
    """All turns."""
    return "".join(
        turn_html(answer, number, language, last=number == len(answers)) for number, answer in enumerate(answers, 1)
    )


def welcome_html(language: Language) -> str:
    """What a first visit shows: what this is for, and examples that can be asked with one click."""
    cards = "".join(
        f'<button type="button" class="example ask" data-text="{escape(text)}">{escape(text)}</button>'
        for text in EXAMPLES[language]
    )
    return (
        f'<section class="welcome"><h1>{word("welcome", language)}</h1><p>{word("promise", language)}</p>'
        f'<div class="examples" role="group" aria-label="{word("examples", language)}">{cards}</div></section>'
    )


def history_html(conversations: Sequence[ConversationSummary], current: str, language: Language) -> str:
    """The list of the owner's conversations."""
    if not conversations:
        return f'<p class="empty">{word("no_history", language)}</p>'
    today = datetime.now(UTC)
    rows = "".join(
        f'<li{" class=current" if c.id == current else ""}><a href="/?c={c.id}" data-conversation="{c.id}"'
        f"{' aria-current=page' if c.id == current else ''}>{escape(c.title)}"
        f"<small>{_when(c.updated, today, language)}</small></a>"
        f"{_button('rename', language)}{_button('delete', language)}</li>"
        for c in conversations
    )
    return f'<ul>{rows}</ul><button type="button" class="link delete-all">{word("delete_all", language)}</button>'


def _when(moment: datetime, now: datetime, language: Language) -> str:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return word("just_now", language)
    if minutes < 60:
        return word("minutes_ago", language).format(n=minutes)
    if minutes < 24 * 60:
        return word("hours_ago", language).format(n=minutes // 60)
    return moment.date().isoformat()


def markdown_export(title: str, answers: Sequence[Answer], language: Language) -> str:
    """A conversation as Markdown, with its sources and calculations under each answer."""
    lines = [f"# {title}", ""]
    for answer in answers:
        lines += [f"## {answer.question}", "", answer.text, ""]
        if answer.citations:
            lines += [f"### {word('sources', language)}", ""]
        for citation in answer.citations:
            page = f", p. {citation.page}" if citation.page else ""
            lines.append(f"- [{citation.n}] {citation.title} › {citation.section}{page} ({citation.location})")
            lines += [f"  - {'> ' + line}" for line in citation.quote.splitlines() if line.strip()]
            lines += [
                f"  - {reference.name}: <{reference.url}>{f' ({reference.as_of})' if reference.as_of else ''}"
                for reference in citation.references
            ]
        if answer.tool_runs:
            lines += ["", f"### {word('calculations', language)}", ""]
        for run in answer.tool_runs:
            inputs = ", ".join(
                f"{name} = {given.value} {given.unit or ''}".strip() for name, given in run.inputs.items()
            )
            lines += [f"- [{run.n}] {run.tool}: {inputs}", f"  - {run.formula}"]
            lines += [f"  - {source.name}{f' ({source.as_of})' if source.as_of else ''}" for source in run.sources]
        lines.append("")
    return "\n".join(lines)
