"""The web app over a small store, for the browser tests: `python -m tests.browser.server FOLDER PORT [DOCUMENT…]`.

Questions that begin with `slowly:` are answered with a pause before each step, so that a test can stop them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.events import Event
from assistant.settings import Settings
from evals.workbench import Workbench
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store
from ui.app import mount

DOCUMENTS = Path(__file__).parent / "documents"
PAUSE = 0.6


class PacedAdvisor(Advisor):
    """Pauses where a test wants to look."""

    def stream(self, question: str, conversation_id: str | None = None, owner: str | None = None) -> Iterator[Event]:
        events = super().stream(question.removeprefix("slowly:"), conversation_id, owner)
        return self._paced(events) if question.startswith("slowly:") else events

    @staticmethod
    def _paced(events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            time.sleep(PAUSE)
            yield event


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
