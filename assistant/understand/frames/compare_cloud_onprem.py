"""How people ask whether to buy machines or to rent them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assistant.understand.frames import common
from assistant.understand.mentions import Mentions
from assistant.understand.slots import Amount, Derived, Frame
from knowledge.quantities import Quantity

_CLOUD = re.compile(r"云|租|按需|按量|cloud|rent|on[- ]?demand|per gpu", re.I)
_CLOUD_BILL = re.compile(
    r"(?:每(?:个)?月|月)[^，。,]{0,4}云[^，。,]{0,3}|云[^，。,]{0,4}(?:每(?:个)?月|月)[^，。,]{0,3}|cloud bill (?:is|of)|a month (?:on|to|for) (?:the )?cloud",
    re.I,
)
_SERVER = re.compile(r"服务器|整机|(?:一|每|单)台|8卡机|server|machine|node|dgx|box", re.I)
_PURCHASE = re.compile(r"自建|自购|买|采购|硬件|总共|服务器|server|hardware|buy|purchase|cluster|own", re.I)

_APIECE = re.compile(r"\beach\b|\bapiece\b|\ba piece\b|一个|单价", re.I)

_SALARY = re.compile(r"年薪|工资|薪|salary|salaries|per (?:person|engineer|head)|each", re.I)
_MONEY_A_YEAR = re.compile(r"[A-Z]{3}/year$")


def _yearly_amounts(mentions: Mentions) -> Sequence[Quantity]:
    """What is paid a year for power, staff, space: everything but what one of the staff earns and the cloud's bill."""
    return [
        q
        for q in mentions.quantities
        if _MONEY_A_YEAR.match(q.unit)
        and not (_SALARY.search(around := mentions.text[max(0, q.start - 8) : q.end + 4]) or _CLOUD.search(around))
    ]


def _yearly(mentions: Mentions) -> Sequence[float]:
    amounts = _yearly_amounts(mentions)
    return [sum(q.value for q in amounts)] if amounts else []


def _refine(arguments: dict[str, Any], mentions: Mentions) -> dict[str, Any]:
    """Who states what one GPU costs to buy states what one costs to rent."""
    if "price_per_gpu" in arguments and "cloud_price_per_gpu_hour" not in arguments:
        rent = arguments.pop("cloud_price_per_hour", None)
        return arguments | ({} if rent is None else {"cloud_price_per_gpu_hour": rent})
    return arguments


FRAME = Frame(
    tool="compare_cloud_onprem",
    asks=re.compile(
        r"自建|自购|自己买|买(?:卡|机器|服务器|显卡|\d|几|一)|租还是买|买还是租|回本|tco|折旧|打平|托管|机柜|总拥有"
        r"|on-?prem|in-?house|\bbuy(?:ing)?\b|\bown(?:ing)?\b|purchas|payback|colo|depreciat|rent (?:or|vs)|break-?even",
        re.I,
    ),
    amounts=(
        Amount("electricity_price", "money/kWh", plain=True),
        Amount("electricity_price", "money", cues=re.compile(r"电费|电价|一度|每度|electricity|kwh", re.I), reach=6),
        Amount("electricity_price", "1", cues=re.compile(r"电费|电价|/ ?kwh|electricity", re.I), reach=6),
        Amount("cloud_price_per_gpu_hour", "money/gpu-hour", plain=True),
        Amount("cloud_price_per_gpu_hour", "money/hour", cues=re.compile(r"每卡|卡时|per gpu|a gpu", re.I), reach=8),
        Amount(
            "cloud_price_per_gpu_hour", "1", cues=re.compile(r"per gpu[- ]hour|每卡时|an? gpu[- ]hour", re.I), reach=6
        ),
        Amount("cloud_price_per_gpu_hour", "money", cues=common.PER_GPU_HOUR, reach=4),
        Amount("cloud_price_per_hour", "money/hour", plain=True, exact=True),
        Amount("cloud_cost_per_month", "money/month", cues=_CLOUD, reach=10, exact=True),
        Amount("cloud_cost_per_month", "money", cues=_CLOUD_BILL, reach=3),
        Amount("colocation_per_month", "money/month", cues=re.compile(r"托管|机柜|机房|colo|rack|hosting", re.I)),
        Amount("colocation_per_month", "1/month", cues=re.compile(r"托管|机柜|机房|colo|rack", re.I)),
        Amount(
            "salary_per_year",
            "money/year",
            cues=re.compile(r"年薪|工资|薪|salary|salaries|per (?:person|engineer|head)|each", re.I),
            exact=True,
        ),
        Amount(
            "price_per_gpu",
            "money",
            cues=re.compile(r"每(?:张|块)卡?|一(?:张|块)|单卡|per (?:gpu|card)|each (?:gpu|card)", re.I),
            reach=8,
        ),
        Amount("price_per_gpu", "money", cues=_APIECE, blocks=_SERVER, reach=16),
        Amount("price_per_gpu", "1", cues=_APIECE, blocks=_SERVER, reach=16, least=100.0),
        Amount("server_price", "money", cues=_SERVER, reach=10),
        Amount("server_price", "1", cues=_SERVER, reach=12),
        Amount("hardware_cost", "money", cues=_PURCHASE, plain=True),
        Amount("hardware_cost", "1", cues=_PURCHASE, reach=12),
        Amount("servers", "node", plain=True),
        Amount("resale_share", "fraction", cues=re.compile(r"残值|二手|转卖|resale|residual|salvage", re.I)),
        Amount("maintenance_share", "fraction", cues=re.compile(r"维保|维护|maintenance|support contract", re.I)),
        Amount("utilization", "fraction", cues=re.compile(r"利用|使用率|满载|utili|busy|duty", re.I), plain=True),
        Amount("pue", "1", cues=re.compile(r"pue", re.I), reach=5),
        Amount("power_watts", "W", plain=True),
        Amount("staff", "person", plain=True),
        Amount("runs_per_year", "run", plain=True),
        Amount("gpu_hours_per_run", "gpu-hour", cues=re.compile(r"每次|each|per run|a run", re.I)),
        Amount("gpu_hours_per_year", "gpu-hour", plain=True, least=10.0),
        Amount("hours_per_run", "hour", cues=re.compile(r"每次|每回|each|per run|a run", re.I), reach=8),
        Amount("hours_per_day", "hour", cues=re.compile(r"每天|一天|a day|per day|daily", re.I), reach=6),
        Amount(
            "years",
            "year",
            cues=re.compile(r"用|折旧|算|over|years|depreciat|tco|年", re.I),
            blocks=re.compile(r"次|runs?\b|只跑|每年", re.I),
            reach=6,
        ),
    ),
    words=re.compile(
        r"自建|自购|自己|买|租|上云|回本|打平|tco|\bbuy|\bown|purchas|payback|\brent|cloud|break-?even|on-?prem|in-?house",
        re.I,
    ),
    needs=(("cloud_cost_per_month",), ("hardware_cost",), ("server_price",), ("price_per_gpu",)),
    derived=(
        Derived("other_per_year", lambda mentions: _yearly(mentions)[:1], accounts=_yearly_amounts),
        common.GPU,
        common.GPU_COUNT,
        common.CURRENCY,
        common.PROVIDER,
    ),
    refine=_refine,
    follow_ups={
        "zh": ("利用率降到 30% 呢？", "用五年呢？", "自建有哪些常被漏掉的成本？"),
        "en": ("What at 30% utilisation?", "Over five years?", "Which costs of owning are forgotten most?"),
    },
)
