"""Schemathesis over the OpenAPI: whatever is sent, no fault of the server, and answers as the schema says."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from assistant.advisor import Advisor
from assistant.api.app import create_app
from assistant.api.settings import ServiceSettings
from assistant.settings import Settings
from tests.assistant.api.conftest import beside

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
    ignored_auth,
]


@pytest.fixture(scope="module")
def described(advisor: Advisor, tmp_path_factory: pytest.TempPathFactory) -> BaseSchema:
    settings = ServiceSettings(access="keys", rate_limit_key="", rate_limit_address="")
    app = create_app(beside(advisor, tmp_path_factory.mktemp("schema"), "default", "research"), settings)
    key = app.state.service.keys.create("schemathesis", "admin", groups=["research"])[1]
    app.state.service.open()
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    schema.config.update(headers={"Authorization": f"Bearer {key}"})
    return schema


def operations() -> list[tuple[str, str]]:
    """Method and path of every documented route; no store is opened for it."""
    paths = create_app(Advisor(Settings(data_dir=Path("none"))), ServiceSettings()).openapi()["paths"]
    return [(method, path) for path, item in paths.items() for method in item]


@pytest.mark.parametrize("examples", [6, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), operations())
def test_whatever_is_sent(described: BaseSchema, method: str, path: str, mode: GenerationMode, examples: int) -> None:
    operation = described[path][method]

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    try:
        check()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # nothing of it can be wrong
