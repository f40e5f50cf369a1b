"""Calculator: what gradient synchronisation costs over nodes, against compute, and where adding nodes stops paying.

Ring all-reduce moves 2 (n - 1) / n of the data through each node, all-gather and reduce-scatter half of that (NVIDIA
nccl-tests, doc/PERFORMANCE.md); within a node the GPUs reduce over their own links first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, ToolRun
from assistant.tools import _checks, _memory, _mfu, _shape
from assistant.tools import formatting as show
from assistant.tools._shape import Shape
from assistant.tools.base import Calculation, Filled, Presentation, Tool, ToolInputs
from knowledge import catalog
from knowledge.catalog.records import Accelerator, Provenance

EFFICIENCY = 0.9
"""Share of a network's rate that large transfers reach."""
_NCCL = Provenance(
    "NVIDIA nccl-tests, doc/PERFORMANCE.md", "https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"
)
_REFERENCE = (10e9, 100e9, 400e9, 3200e9)
_NODES = (2, 4, 8, 16, 32, 64)
_DEFAULT_TOKENS = 4096.0
_PAYS = 0.5
_MAX_NODES = 100_000
MAX_BANDWIDTH = 1e15


class ScalingInputs(ToolInputs):
    """What is synchronised, over which network, and how long a step computes."""

    model: str | None = Field(None, description="Model name, such as Llama 3.1 70B")
    parameters: float | None = Field(None, description="Parameters in all", json_schema_extra={"unit": "parameters"})
    active_parameters: float | None = Field(
        None, description="Parameters that a token passes through", json_schema_extra={"unit": "parameters"}
    )
    method: Literal["full", "lora"] = Field("full", description="With lora only the adapters' gradients travel")
    lora_rank: int = Field(16, ge=1, le=4096)
    gradient_bytes: float | None = Field(
        None, gt=0, le=1e16, description="All gradients of a step", json_schema_extra={"unit": "byte"}
    )
    precision: Literal["bf16", "fp16", "fp32", "fp8"] = "bf16"
    zero_stage: int = Field(0, ge=0, le=3, description="3 also gathers the weights twice a step")
    nodes: int = Field(2, ge=1, le=_MAX_NODES)
    gpus_per_node: int = Field(8, ge=1, le=72)
    gpu: str | None = Field(None, description="GPU name, such as A100 80GB")
    bandwidth_bits_per_second: float | None = Field(
        None, description="Network rate of a whole node, one direction", json_schema_extra={"unit": "bit/s"}
    )
    instance: str | None = Field(None, description="Instance type whose network is meant, such as p5.48xlarge")
    rdma: bool | None = None
    network_efficiency: float = Field(EFFICIENCY, json_schema_extra={"unit": "fraction"})
    tokens_per_gpu_step: float | None = Field(
        None,
        gt=0,
        le=1e9,
        description="Tokens a GPU computes between two synchronisations",
        json_schema_extra={"unit": "tokens"},
    )
    accumulation: int = Field(1, ge=1, le=100_000, description="Gradient accumulation steps")
    step_seconds: float | None = Field(
        None, gt=0, le=1e6, description="Measured compute time of a step", json_schema_extra={"unit": "second"}
    )
    mfu: float | None = Field(None, json_schema_extra={"unit": "fraction"})


@dataclass(frozen=True, slots=True)
class _Network:
    rate: float
    """Bits a second of one node, one direction."""
    source: Provenance | None
    rdma: bool | None


def _network(inputs: ScalingInputs, language: Language) -> _Network | None:
    """The network that is stated, or that of the instance type; None when neither is known.

    Raises:
        InvalidField: the bandwidth is impossible.
    """
    rate = inputs.bandwidth_bits_per_second
    if rate is not None:
        if not 0 < rate <= MAX_BANDWIDTH:
            given, most = show.bandwidth(rate), show.bandwidth(MAX_BANDWIDTH)
            raise InvalidField(
                "bandwidth_bits_per_second",
                f"带宽 {given} 不可能：应大于 0，且不超过 {most}。"
                if language == "zh"
                else f"A bandwidth of {given} is impossible: it must be greater than 0 and at most {most}.",
                accepted=f"0 – {most}",
            )
        return _Network(rate, None, inputs.rdma)
    if inputs.instance is None:
        return None
    rows = [row for row in catalog.instances() if row.name.casefold() == inputs.instance.casefold()]
    known = next((row for row in rows if row.network_gbps is not None), None)
    if known is None or known.network_gbps is None:
        return None
    return _Network(known.network_gbps * 1e9, known.source, known.rdma)


def _ask(inputs: ScalingInputs, found: object, network: _Network | None, language: Language) -> None:
    """Ask for the model and the bandwidth, when one is missing.

    Raises:
        MissingInputs: one is.
    """
    zh = language == "zh"
    fields, clauses = [], []
    if inputs.gradient_bytes is None and not isinstance(found, Shape):
        fields.append("model")
        if isinstance(found, catalog.AmbiguousName):
            clauses.append(_shape.which_model(found, inputs.model or "", language))
        else:
            clauses.append("哪个模型、多少参数" if zh else "which model it is (or how many parameters)")
    if network is None and inputs.nodes > 1:
        fields.append("bandwidth_bits_per_second")
        clauses.append(
            "机器之间的带宽（每台合计，如 10 Gb/s 或 8×400 Gb/s）"
            if zh
            else "the bandwidth between machines (of a whole node, such as 10 Gb/s or 8 x 400 Gb/s)"
        )
    if fields:
        raise MissingInputs(fields, f"请先说明{'；'.join(clauses)}。" if zh else f"Please say {'; '.join(clauses)}.")


def sync_seconds(payload: float, nodes: int, bits_per_second: float, efficiency: float, stage: int = 0) -> float:
    """Seconds that a step's gradients take between nodes; ZeRO-3 moves half as much again as an all-reduce."""
    if nodes <= 1:
        return 0.0
    passes = 3.0 if stage >= 3 else 2.0
    return passes * (nodes - 1) / nodes * payload * 8 / (bits_per_second * efficiency)


def efficiencies(compute: float, sync: float) -> tuple[float, float, float]:
    """Scaling efficiency: half of the synchronisation hidden, none of it, all that fits behind the backward pass."""
    hidden = compute / max(compute, sync) if compute else 0.0
    return compute / (compute + max(sync / 2, sync - compute)), compute / (compute + sync), hidden


def _payload(inputs: ScalingInputs, shape: Shape | None) -> float:
    """Bytes of gradients a step."""
    if inputs.gradient_bytes is not None or shape is None:
        return inputs.gradient_bytes or 0.0
    trained = _memory.lora_parameters(shape, inputs.lora_rank) if inputs.method == "lora" else shape.parameters
    return trained * _memory.WEIGHT_BYTES[inputs.precision]


def _compute(
    inputs: ScalingInputs, shape: Shape | None, row: Accelerator | None, filled: dict[str, Filled], language: Language
) -> float | None:
    """Seconds that one step computes, None when it can't be known."""
    if inputs.step_seconds is not None:
        return inputs.step_seconds * inputs.accumulation
    if shape is None or row is None or row.peak_tflops is None:
        return None
    tokens = inputs.tokens_per_gpu_step or _DEFAULT_TOKENS
    if inputs.tokens_per_gpu_step is None:
        filled["tokens_per_gpu_step"] = Filled(tokens, "default", "tokens")
    mfu = inputs.mfu or _mfu.expect(row, shape, gpus=8).benchmark
    if inputs.mfu is None:
        filled["mfu"] = Filled(mfu, "catalog", "fraction")
    factor = 4.0 if inputs.method == "lora" else 6.0
    return factor * shape.active_parameters * tokens * inputs.accumulation / (row.peak_tflops * 1e12 * mfu)


def _pays_until(compute: float, inputs: ScalingInputs, payload: float, rate: float) -> int:
    """Most nodes at which a fixed batch still reaches half efficiency; `compute` is a step of one node."""
    best = 1
    for nodes in (*range(2, 65), *(2**power for power in range(7, 17))):
        sync = sync_seconds(payload, nodes, rate, inputs.network_efficiency, inputs.zero_stage)
        if efficiencies(compute / nodes, sync)[0] < _PAYS:
            break
        best = nodes
    return best


def _calculate(inputs: ScalingInputs, language: Language) -> Calculation:
    _checks.fraction(
        "network_efficiency", inputs.network_efficiency, language, name_zh="网络利用率", name_en="A network efficiency"
    )
    _checks.fraction("mfu", inputs.mfu, language, name_zh="MFU", name_en="An MFU")
    found = _shape.resolve(inputs.model, inputs.parameters, inputs.active_parameters, language)
    network = _network(inputs, language)
    _ask(inputs, found, network, language)
    network = network or _Network(MAX_BANDWIDTH, None, None)
    shape = found if isinstance(found, Shape) else None
    payload = _payload(inputs, shape)
    row = _checks.accelerator(inputs.gpu, language).row if inputs.gpu is not None else None
    filled: dict[str, Filled] = {
        "nodes": Filled(inputs.nodes, "default"),
        "network_efficiency": Filled(inputs.network_efficiency, "default", "fraction"),
    }
    stage, efficiency = inputs.zero_stage, inputs.network_efficiency
    sync = sync_seconds(payload, inputs.nodes, network.rate, efficiency, stage)
    result: dict[str, Any] = {
        "gradient_bytes": payload,
        "nodes": inputs.nodes,
        "accumulation": inputs.accumulation,
        "bandwidth_bits_per_second": network.rate,
        "usable_bytes_per_second": network.rate * efficiency / 8,
        "bytes_per_node_per_step": sync * network.rate * efficiency / 8,
        "sync_seconds": sync,
        "sync_seconds_per_micro_step": sync / inputs.accumulation,
    }
    compute = _compute(inputs, shape, row, filled, language)
    if compute is not None:
        likely, low, high = efficiencies(compute, sync)
        result |= {
            "compute_seconds": compute,
            "scaling_efficiency": likely,
            "scaling_efficiency_range": [low, high],
            "speedup": likely * inputs.nodes,
            "nodes_that_pay": _pays_until(compute, inputs, payload, network.rate),
            # Nine parts of computing to one of exposed synchronisation.
            "accumulation_for_90_percent": max(1, math.ceil(9 * sync * inputs.accumulation / compute)),
        }
    result["by_nodes"] = _by_nodes(payload, compute, network.rate, efficiency, stage)
    rows = [item.source for item in (shape, row) if item is not None and item.source is not None]
    sources = [*rows, *([network.source] if network.source else []), _NCCL]
    return Calculation(
        result=result,
        formula=(
            f"同步时间 = {3 if stage >= 3 else 2} × (n−1) ÷ n × 梯度 × 8 ÷ (带宽 × 利用率)；"
            "效率 = 计算 ÷ (计算 + 没被掩盖的通信)"
            if language == "zh"
            else f"sync = {3 if stage >= 3 else 2} x (nodes - 1) / nodes x gradients x 8 / (bandwidth x efficiency); "
            "efficiency = compute / (compute + what of the sync is not hidden)"
        ),
        filled=filled,
        assumptions=_assumptions(inputs, language),
        warnings=_warnings(inputs, network, result, language),
        sources=_checks.sources(sources),
    )


def _by_nodes(
    payload: float, compute: float | None, rate: float, efficiency: float, stage: int
) -> list[dict[str, Any]]:
    """Sync time and efficiency over node counts, for this network and some usual ones."""
    networks = sorted({rate, *_REFERENCE})
    return [
        {
            "nodes": nodes,
            "networks": [
                {
                    "bandwidth_bits_per_second": network,
                    "sync_seconds": (sync := sync_seconds(payload, nodes, network, efficiency, stage)),
                    "scaling_efficiency": None if compute is None else efficiencies(compute, sync)[0],
                }
                for network in networks
            ],
        }
        for nodes in _NODES
    ]


def _assumptions(inputs: ScalingInputs, language: Language) -> tuple[str, ...]:
    share = show.percent(inputs.network_efficiency)
    if language == "zh":
        return (
            f"环形 all-reduce，每台机器收发 2(n−1)/n 份梯度；带宽按标称的 {share} 可用；机内先用 NVLink 归约。",
            "效率按一半通信被反向计算掩盖估；范围从完全不掩盖到能掩盖的全掩盖。每卡 batch 不变（弱扩展）。",
        )
    return (
        f"Ring all-reduce: each node sends and receives 2(n-1)/n of the gradients; {share} of the nominal rate is "
        "usable; GPUs of a node reduce over NVLink first.",
        "Efficiency takes half of the synchronisation as hidden behind the backward pass; the range is from none of it "
        "to all that fits. The batch a GPU stays the same (weak scaling).",
    )


def _warnings(inputs: ScalingInputs, network: _Network, result: dict[str, Any], language: Language) -> tuple[str, ...]:
    zh = language == "zh"
    said = []
    slow = network.rate <= 25e9 and network.rdma is not True and inputs.nodes > 1
    if slow and result.get("scaling_efficiency", 0) < 0.9:
        said.append(
            "万兆以太网走 TCP，实际更慢；LoRA 或加大梯度累积可以凑合，全参或 ZeRO-3 通常被网络卡住。"
            if zh
            else "Over TCP at this rate latency and CPU overhead make it slower still; LoRA or more gradient "
            "accumulation can live with it, full training or ZeRO-3 is usually bound by the network."
        )
    if result.get("scaling_efficiency", 1) < _PAYS:
        said.append(
            "通信比计算还久，再加机器基本不划算。"
            if zh
            else "Communication takes longer than compute: more nodes hardly pay."
        )
    return tuple(said)


def _present(run: ToolRun, language: Language) -> Presentation:
    zh = language == "zh"
    result = run.result
    nodes, gradients = result["nodes"], show.data(result["gradient_bytes"])
    sync, rate = show.duration(result["sync_seconds"], language), show.bandwidth(result["bandwidth_bits_per_second"])
    usable = show.data(result["usable_bytes_per_second"], 4) + "/s"
    if nodes == 1:
        headline = "单机不走网络，没有跨机同步。" if zh else "One node: nothing goes over the network."
        return Presentation(headline)
    headline = (
        f"{nodes} 台之间每步同步约 {sync}：梯度 {gradients}，每台 {rate}，按可用率折合 {usable}。"
        if zh
        else f"Synchronising {gradients} of gradients over {nodes} nodes takes about {sync} a step, at {rate} a node "
        f"({usable} usable)."
    )
    if "scaling_efficiency" in result:
        low, high = result["scaling_efficiency_range"]
        share, spread = show.percent(result["scaling_efficiency"], 2), f"{show.percent(low, 2)}–{show.percent(high, 2)}"
        compute = show.duration(result["compute_seconds"], language)
        steps, most = result["accumulation_for_90_percent"], result["nodes_that_pay"]
        pays = (
            (
                f"同样的总 batch 最多加到约 {most} 台还划算"
                if zh
                else f"with the total batch fixed, up to about {most} nodes pay"
            )
            if most > 1
            else ("总 batch 不变时加机器不划算" if zh else "with the total batch fixed, a second node does not pay")
        )
        headline += (
            f"一步计算约 {compute}，扩展效率约 {share}（{spread}）；{pays}。"
            if zh
            else f" A step computes for about {compute}, so scaling efficiency is about {share} ({spread}); {pays}."
        )
        if steps > result["accumulation"] and result["scaling_efficiency"] < 0.9:
            headline += (
                f"要到 90%，梯度累积约 {steps} 步。"
                if zh
                else f" Accumulating gradients over about {steps} steps brings 90%."
            )
    else:
        headline += (
            "它要和一步的计算时间比：通信明显短于计算就没问题，否则用梯度累积摊薄。"
            if zh
            else " Compare it with a step's compute: well below is fine, otherwise spread it by gradient accumulation."
        )
    if run.warnings:
        headline += ("" if zh else " ") + run.warnings[0]
    return Presentation(
        headline,
        tuple(_table(result, language)),
        "每次同步之间算多少 token（batch 与梯度累积），以及每台的网络带宽。"
        if zh
        else "tokens computed between synchronisations, and the bandwidth of a node.",
    )


def _table(result: dict[str, Any], language: Language) -> list[tuple[str, ...]]:
    first = result["by_nodes"][0]["networks"]
    names = [show.bandwidth(item["bandwidth_bits_per_second"]) for item in first]
    rows = [("机器数" if language == "zh" else "nodes", *names)]
    for entry in result["by_nodes"]:
        cells = []
        for item in entry["networks"]:
            text = show.duration(item["sync_seconds"], language, 2)
            if item["scaling_efficiency"] is not None:
                text += f" / {show.percent(item['scaling_efficiency'], 2)}"
            cells.append(text)
        rows.append((str(entry["nodes"]), *cells))
    return rows


TOOL = Tool(
    name="estimate_scaling",
    title={"zh": "多机扩展效率", "en": "Scaling over nodes"},
    description={
        "zh": "多机训练每步梯度同步要多久、扩展效率多少、加机器到哪里不再划算；RDMA 与以太网对比。",
        "en": "How long gradient synchronisation takes a step over nodes, the scaling efficiency, and where adding "
        "nodes stops paying, for RDMA and Ethernet.",
    },
    Inputs=ScalingInputs,
    calculate=_calculate,
    present=_present,
)
