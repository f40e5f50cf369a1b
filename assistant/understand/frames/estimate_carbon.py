"""How people ask what a run takes in energy and emits."""

from __future__ import annotations

import re

from assistant.understand.frames import common
from assistant.understand.slots import Amount, Choice, Derived, Frame

FRAME = Frame(
    tool="estimate_carbon",
    asks=re.compile(
        r"碳|排放|二氧化碳|co2|耗电|用电|电费|多少度|能耗|绿色区域|更绿|esg|carbon|emission|kwh|energy|electricity|greenest|power draw|sustainab",
        re.I,
    ),
    amounts=(
        Amount("energy_kwh", "kWh", blocks=re.compile(r"[\d.]\s*(?:元|块|毛|美元)?\s*$"), plain=True),
        Amount("gpu_hours", "gpu-hour", plain=True),
        Amount("grid_grams_per_kwh", "g/kWh", plain=True),
        Amount("power_watts", "W", plain=True),
        Amount("pue", "1", cues=re.compile(r"pue", re.I), reach=5),
        Amount("electricity_price", "money/kWh", plain=True),
        Amount("hours", "hour", cues=re.compile(r"跑|小时|hours?", re.I), reach=4),
        Amount("days", "day", plain=True),
    ),
    choices=(
        Choice(
            "rank_regions",
            (
                (
                    True,
                    re.compile(
                        r"(?:哪(?:个|些|里|儿)|什么)[^，。？?]{0,10}(?:区域|地域|地区|地方)[^，。？?]{0,10}(?:绿|碳|环保|清洁)|最(?:绿|低碳|环保|清洁)的?[^，。？?]{0,6}(?:区|地)"
                        r"|(?:greenest|cleanest|lowest[- ]carbon|least carbon)[^.?]{0,20}(?:region|place|grid|location)|(?:which|what|where)[^.?]{0,20}regions?[^.?]{0,24}(?:green|clean|carbon|grid)",
                        re.I,
                    ),
                ),
            ),
        ),
    ),
    derived=(
        common.GPU,
        common.GPU_COUNT,
        Derived("region", lambda mentions: common.places(mentions)[:1]),
        Derived("compare_region", lambda mentions: common.places(mentions)[1:2]),
        common.PROVIDER,
        common.CURRENCY,
    ),
    excludes=(frozenset({"gpu_hours", "energy_kwh"}),),
    follow_ups={
        "zh": ("换到低碳区域能少多少？", "PUE 1.1 呢？", "训练要多少钱？"),
        "en": ("How much less in a low-carbon region?", "With a PUE of 1.1?", "What does the run cost?"),
    },
)
