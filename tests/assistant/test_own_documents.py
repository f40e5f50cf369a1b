"""A company's documents answer before the catalog and before anything is asked back; what they don't say, they don't."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assistant.advisor import Advisor
from assistant.settings import Settings
from tests.assistant.indexed import index

DOCUMENTS = {
    "prices.md": "# House prices\n\n## What does an H100 hour cost on Badger?\n\nAn H100 hour on the Badger cluster costs "
    "3.15 dollars, charged to the cost centre of the team.\n\n## What does the tape tier cost?\n\nThe tape tier costs 25 "
    "yuan per TB and month; taking data back costs 40 yuan per TB.\n",
    "rules.md": "# Queue rules\n\n## How long may a job run without checkpoints?\n\nA job without checkpoints is ended after "
    "four hours. Longer jobs must write checkpoints, or the scheduler refuses them.\n",
    "office.md": "# Office\n\n## Where is the coffee machine repaired?\n\nThe coffee machine on floor three is repaired by "
    "the caretaker; leave a note in room 312.\n",
}


@pytest.fixture(scope="module")
def advisor(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Advisor]:
    made = Advisor(Settings(data_dir=index(tmp_path_factory.mktemp("own"), DOCUMENTS, pytestconfig.cache)))
    yield made
    made.conversations.close()
    made.store.close()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how much is one hour of an H100 on Badger", "3.15"),
        ("what do we pay for a terabyte on tape each month", "25"),
        ("磁带那一层一个T一个月多少钱", "25"),
        ("who repairs the coffee machine", "312"),
        ("my job needs six hours, can I skip checkpoints", "four hours"),
    ],
)
def test_the_house_s_own_rules_answer(advisor: Advisor, question: str, said: str) -> None:
    answer = advisor.ask(question)
    assert answer.status == "answered"
    assert said in answer.text
    assert answer.citations
    assert not answer.tool_runs


def test_a_calculation_that_states_all_it_needs_is_still_run(advisor: Advisor) -> None:
    answer = advisor.ask("2 TB over a 1 Gbps line at 80%, how many hours?")
    assert [run.tool for run in answer.tool_runs] == ["plan_data_transfer"]


@pytest.mark.parametrize("question", ["how do I bake sourdough bread", "红酒洒在地毯上怎么洗"])
def test_what_they_do_not_say_is_not_covered(advisor: Advisor, question: str) -> None:
    answer = advisor.ask(question)
    assert answer.status == "not_covered"
    assert not answer.citations
