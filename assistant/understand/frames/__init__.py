"""How each calculator is asked for in words, one file a calculator."""

from __future__ import annotations

from assistant.understand.frames import (
    calculate,
    compare_cloud_onprem,
    compare_purchase_options,
    estimate_carbon,
    estimate_memory,
    estimate_scaling,
    estimate_storage,
    estimate_training_cost,
    plan_budget,
    plan_data_transfer,
    select_instances,
)
from assistant.understand.slots import Frame

FRAMES: tuple[Frame, ...] = (
    estimate_training_cost.FRAME,
    estimate_memory.FRAME,
    select_instances.FRAME,
    compare_purchase_options.FRAME,
    plan_data_transfer.FRAME,
    estimate_storage.FRAME,
    compare_cloud_onprem.FRAME,
    estimate_scaling.FRAME,
    plan_budget.FRAME,
    estimate_carbon.FRAME,
    calculate.FRAME,
)


def frame_of(tool: str) -> Frame:
    """The frame of a calculator.

    Raises:
        KeyError: no calculator has that name.
    """
    return _BY_TOOL[tool]


_BY_TOOL = {frame.tool: frame for frame in FRAMES}
