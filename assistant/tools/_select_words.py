"""What a choice of instances says to its reader: the best offer, the next, the fastest, and why not others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assistant.schema import Language, ToolRun
from assistant.tools import formatting as show
from assistant.tools.base import Presentation

_REASON_WORDS: Mapping[str, tuple[str, str]] = {
    "gpu": ("不是要的卡", "another GPU"),
    "provider": ("不是要的云", "another provider"),
    "region": ("不在要的地域", "another region"),
    "gpu memory": ("显存不够", "too little GPU memory"),
    "host memory": ("内存不够或未知", "too little host memory, or unknown"),
    "rdma": ("没有或查不到 RDMA", "no RDMA, or unknown"),
    "nvlink": ("没有 NVLink", "no NVLink"),
    "bandwidth": ("网络带宽不够或未知", "too little network, or unknown"),
    "currency": ("币种不同", "another currency"),
    "no price": ("没有挂牌价", "no listed price"),
    "no specification": ("没有有出处的算力", "no sourced compute rate"),
    "price": ("超出单价上限", "above the price limit"),
    "deadline": ("赶不上期限", "too slow for the deadline"),
    "budget": ("超出预算", "over the budget"),
}


def _label(offer: Mapping[str, Any]) -> str:
    name = f"{offer['provider']} {offer['instance']}".strip()
    return f"{name} ({offer['region']})" if offer["region"] else name


def present(run: ToolRun, language: Language) -> Presentation:
    """The choice in words and a table."""
    zh = language == "zh"
    result = run.result
    currency = result["currency"]
    left = "；" if zh else "; "
    why = left.join(
        f"{_REASON_WORDS[item['reason']][0 if zh else 1]} {item['count']}"
        for item in sorted(result["left_out"], key=lambda item: -item["count"])
    )
    if not result["offers"] and "unlisted_provider" in result:
        name = result["unlisted_provider"]
        return Presentation(
            f"目录里没有 {name} 有出处的价格。请给出你的报价（卡型、卡数、每卡或整机每小时多少钱），就能和其他方案比。"
            if zh
            else f"No sourced price of {name} is listed. Give your quote (GPU, how many, price of a GPU or instance an "
            "hour) to have it compared."
        )
    if not result["offers"]:
        headline = (
            f"没有符合条件的实例（排除原因：{why}）。请放宽其中一项。"
            if zh
            else (f"No instance meets all of that (left out: {why}). Relax one of the conditions.")
        )
        return Presentation(headline)
    best = result["offers"][0]
    headline = _best(best, currency, language)
    if len(result["offers"]) > 1:
        second = result["offers"][1]
        ratio = second["value_over_best"]
        price = show.money(second["price_per_gpu_hour"], currency, language, is_exact=True)
        headline += (
            f"其次是 {_label(second)}（每卡时 {price}，单位有效算力是它的 {show.significant(ratio, 3)} 倍价）。"
            if zh
            else f" Next is {_label(second)} at {price} a GPU-hour, {show.significant(ratio, 3)} times the price for "
            "the same useful compute."
        )
    fastest = result.get("fastest")
    if fastest is not None and "days" in fastest and fastest["instance"] != best["instance"]:
        days = show.days(fastest["days"], language)
        headline += (
            f"最快的是 {_label(fastest)}，约 {days}。" if zh else f" Fastest is {_label(fastest)}, in about {days}."
        )
    for warning in run.warnings:
        headline += warning if zh else f" {warning}"
    return Presentation(
        headline,
        tuple(_table(result, language)),
        "单价、MFU，以及能不能拿到货。" if zh else "the price, the MFU, and whether there is stock.",
    )


def _best(best: Mapping[str, Any], currency: str, language: Language) -> str:
    zh = language == "zh"
    per_gpu = show.money(best["price_per_gpu_hour"], currency, language, is_exact=True)
    hourly = show.money(best["price_per_hour"], currency, language, is_exact=True)
    count, per = best["instances"], best["gpus_per_instance"]
    text = (
        f"最划算的是 {_label(best)}：{count} 台 × {per} 张 {best['gpu']}，每卡时 {per_gpu}，合计每小时 {hourly}"
        if zh
        else f"Best value is {_label(best)}: {count} x {per} {best['gpu']} at {per_gpu} a GPU-hour, {hourly} an hour "
        "in all"
    )
    if "days" in best and "cost" in best:
        cost, days = show.money(best["cost"], currency, language), show.days(best["days"], language)
        text += f"，约 {days}、{cost}" if zh else f", about {days} and {cost}"
    return text + ("。" if zh else ".")


def _table(result: Mapping[str, Any], language: Language) -> list[tuple[str, ...]]:
    zh = language == "zh"
    timed = any("days" in offer for offer in result["offers"])
    head = (
        ["实例", "GPU", "台数", "每卡时", "每小时合计", "10^18 有效 FLOP"]
        if zh
        else ["instance", "GPU", "instances", "a GPU-hour", "an hour in all", "10^18 useful FLOPs"]
    )
    if timed:
        head += ["天数", "费用"] if zh else ["days", "cost"]
    head.append("报价日期" if zh else "as of")
    rows = [tuple(head)]
    currency = result["currency"]
    for offer in result["offers"]:
        cells = [
            _label(offer),
            f"{offer['gpus_per_instance']} x {offer['gpu']}",
            str(offer["instances"]),
            show.money(offer["price_per_gpu_hour"], currency, language, is_exact=True),
            show.money(offer["price_per_hour"], currency, language, is_exact=True),
            show.money(offer["price_per_exaflop"], currency, language, is_exact=True),
        ]
        if timed:
            cells += [show.significant(offer["days"]), show.money(offer["cost"], currency, language)]
        cells.append(offer["as_of"] or "")
        rows.append(tuple(cells))
    return rows
