"""Calculator: compute, GPU-hours, time and money of a training run, solved for whichever of them is missing."""

from __future__ import annotations

from assistant.schema import Language
from assistant.tools import _training_words
from assistant.tools._training import Estimate
from assistant.tools._training_inputs import TrainingInputs
from assistant.tools.base import Calculation, Tool


def _calculate(inputs: TrainingInputs, language: Language) -> Calculation:
    return Estimate(inputs, language).calculate()


TOOL = Tool(
    name="estimate_training_cost",
    title={"zh": "训练成本与时间", "en": "Training cost and time"},
    description={
        "zh": "训练要多少算力、卡时、天数、卡数和钱；也能由时间反推利用率、由账单反推卡时价、由预算反推 token 数。",
        "en": "Compute, GPU-hours, days, GPUs and cost of a training run; also utilisation from the time it took, the "
        "price of a GPU-hour from a bill, and tokens from a budget.",
    },
    Inputs=TrainingInputs,
    calculate=_calculate,
    present=_training_words.present,
)
