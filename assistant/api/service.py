"""What the routes work with: the advisor and the API's own stores, one each an application."""

from __future__ import annotations

from threading import Lock
from typing import Annotated

from fastapi import Depends, Request

from assistant.advisor import Advisor
from assistant.api.access.audit import AuditLog
from assistant.api.access.keys import Keys
from assistant.api.database import Database
from assistant.api.dialogues import Dialogues
from assistant.api.idempotency import Memory
from assistant.api.ingests import Ingests
from assistant.api.settings import ServiceSettings
from assistant.errors import AdvisorError


class Service:
    """One application's advisor and stores."""

    def __init__(self, advisor: Advisor, settings: ServiceSettings) -> None:
        self.advisor = advisor
        self.settings = settings
        self.database = Database(advisor.settings.database)
        self.keys = Keys(self.database)
        self.audit = AuditLog(self.database)
        self.memory = Memory(self.database)
        self.ingests = Ingests(advisor, self.database)
        self.dialogues = Dialogues(advisor)
        self._opening = Lock()
        self._open = False

    def open(self) -> None:
        """Load all that the first question would wait for.

        Raises:
            AdvisorError: the index can't be used; the message says why.
        """
        with self._opening:
            if not self._open:
                self.advisor.warm_up()
                self._open = True

    @property
    def why_not_ready(self) -> str | None:
        """Why questions can't be answered now; None when they can."""
        if not self._open:
            return "The index is being opened."
        try:
            self.advisor.store.check_encoder(self.advisor.encoder.identity)
        except AdvisorError as error:
            return str(error)
        return None


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceOf = Annotated[Service, Depends(_service)]
"""A route's parameter: the application's service."""
