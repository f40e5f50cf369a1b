"""Turns, batches of events, exports and jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from assistant.errors import InvalidInput
from assistant.events import Answered, Event, StageStarted, TextReleased
from assistant.schema import Answer, Citation, Reference
from ui.batches import batched
from ui.conversation import conversation_html, markdown_export, welcome_html, working_html
from ui.jobs import Job, Jobs, job_html
from ui.sources import citation_html

TEXT = "Before it. <b>The quoted words</b> stand here. After it."
QUOTE = "<b>The quoted words</b> stand here."


def answer(**changes: object) -> Answer:
    start = TEXT.index(QUOTE)
    citation = Citation(
        n=1, document_id="d-1", title="A <title>", section="S", location="/home/x/file.md", quote=QUOTE, start=start,
        end=start + len(QUOTE), score=1.0, references=[Reference(name="Origin", url="https://example.com/a")],
    )  # fmt: skip
    fields = {
        "id": "a1", "conversation_id": "c1", "question": "What <i>stands</i> here?", "language": "en",
        "status": "answered", "text": "The quoted words. [1]", "citations": [citation], "follow_ups": ['Say "more"?'],
    }  # fmt: skip
    return Answer.model_validate({**fields, **changes})


def test_turn_escapes_what_people_and_documents_wrote() -> None:
    html = conversation_html([answer()], "en")
    assert "What &lt;i&gt;stands&lt;/i&gt; here?" in html and "<i>" not in html
    assert 'data-text="Say &quot;more&quot;?"' in html


def test_only_the_last_turn_offers_follow_ups() -> None:
    html = conversation_html([answer(), answer(id="a2")], "en")
    assert html.count("follow-ups") == 1 and html.index('data-answer="a2"') < html.index("follow-ups")


def test_citation_shows_the_span_in_its_surroundings() -> None:
    html = citation_html(answer().citations[0], lambda _: TEXT, "en")
    assert "Before it. <mark>&lt;b&gt;The quoted words&lt;/b&gt; stand here.</mark> After it." in html
    assert "file.md" in html and "/home/x" not in html


@pytest.mark.parametrize("text", ["", "Another text altogether that is somewhat longer than the quote was."])
def test_citation_of_a_changed_document_says_so_and_keeps_the_quote(text: str) -> None:
    html = citation_html(answer().citations[0], lambda _: text, "en")
    assert "has changed" in html and "The quoted words" in html and "data-document" not in html


def test_citation_of_a_deleted_document() -> None:
    def gone(_document: str) -> str:
        raise InvalidInput("there is none")

    assert "The quoted words" in citation_html(answer().citations[0], gone, "zh")


def test_references_that_are_no_web_address_are_not_links() -> None:
    citation = answer().citations[0].model_copy(update={"references": [Reference(name="x", url="javascript:alert(1)")]})
    assert "<a " not in citation_html(citation, lambda _: TEXT, "en")


def test_stages_say_where_the_work_is() -> None:
    html = working_html("q", "", "searching", "en")
    assert 'class="done">Understanding' in html and 'class="now">Searching' in html and 'class="">Calculating' in html


def test_examples_are_in_the_visitors_language() -> None:
    assert "H100" in welcome_html("zh") and "账单" in welcome_html("zh") and "bill" in welcome_html("en")


def test_export_is_complete() -> None:
    text = markdown_export("Title", [answer()], "en")
    assert text.startswith("# Title") and "## What <i>stands</i> here?" in text
    assert "- [1] A <title> › S (/home/x/file.md)" in text and "<https://example.com/a>" in text


def test_bursts_are_joined_and_pauses_are_not() -> None:
    def events() -> Iterator[Event]:
        yield StageStarted("understanding")
        yield StageStarted("searching")
        time.sleep(0.3)
        yield TextReleased("a")
        yield Answered(answer())

    batches = list(batched(events()))
    assert [len(batch) for batch in batches] == [2, 2] and isinstance(batches[-1][-1], Answered)


def test_errors_come_after_what_was_said_before() -> None:
    def events() -> Iterator[Event]:
        yield TextReleased("a")
        raise InvalidInput("no")

    batches = batched(events())
    assert next(batches) == [TextReleased("a")]
    with pytest.raises(InvalidInput):
        next(batches)


def test_closing_ends_the_work_before_its_next_step() -> None:
    reached: list[int] = []
    going = threading.Event()

    def events() -> Iterator[Event]:
        for number in range(3):
            reached.append(number)
            yield StageStarted("searching")
            going.wait(5)

    batches = batched(events())
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    going.set()
    time.sleep(0.2)
    assert reached == [0, 1]


def test_job_goes_on_and_tells_why_it_failed() -> None:
    jobs = Jobs()

    def work(job: Job) -> None:
        job.steps[0].status = "added"
        raise InvalidInput("<b>too large</b>")

    job = jobs.start("ingest", "me", ["a.md", "b.md"], work)
    while not job.done:
        time.sleep(0.01)
    assert jobs.find(job.id, "me") is job and jobs.find(job.id, "you") is None
    html = job_html(job, "en")
    assert "added" in html and "&lt;b&gt;too large" in html
