"""The web app over a small store, for the browser tests: `python -m tests.browser.server FOLDER PORT [DOCUMENT…]`.

Questions that begin with `slowly:` are answered with a pause before each step, those that begin with `stalling:` with
one long pause while searching, so that a test can look and stop them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.events import Event, StageStarted
from assistant.settings import Settings
from evals.workbench import Workbench
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store
from ui.app import mount

DOCUMENTS = Path(__file__).parent / "documents"
PAUSE = 0.6
STALL = 6.0


class PacedAdvisor(Advisor):
    """Pauses where a test wants to look."""

    def stream(self, question: str, *rest: Any, **named: Any) -> Iterator[Event]:
        pace, colon, asked = question.partition(":")
        if not colon or pace not in ("slowly", "stalling"):
            return super().stream(question, *rest, **named)
        events = super().stream(asked, *rest, **named)
        return self._slowly(events) if pace == "slowly" else self._stalling(events)

    @staticmethod
    def _slowly(events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            time.sleep(PAUSE)
            yield event

    @staticmethod
    def _stalling(events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            yield event
            if event == StageStarted("searching"):
                time.sleep(STALL)


def main(folder: Path, port: int, documents: list[Path]) -> None:
    settings = Settings(data_dir=folder)
    with Store.open(folder) as store:
        report = ingest(store, load_encoder(settings.encoder), documents)
        assert not [file for file in report.files if file.status == "failed"], report
    advisor = PacedAdvisor(settings)
    app = mount(create_app(advisor), advisor, Workbench(folder))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), [Path(path) for path in sys.argv[3:]] or [DOCUMENTS])
