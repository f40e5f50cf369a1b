"""The typed rows of the catalog: each carries where it was taken from and when.

Units stand in the field names: `_tflops` are dense 10^12 FLOP/s, `_gb` decimal gigabytes as vendors write them,
`_gib` binary, `_gbps` gigabit/s, `_gb_s` gigabyte/s. None means that no sourced figure is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

RowOrigin = Literal["catalog", "price file"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a row was taken from. `as_of` is the date of the figure, None where the source gives none."""

    name: str
    url: str | None = None
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A GPU or other accelerator."""

    name: str
    vendor: str
    family: str
    """Name without memory size and form factor: "A100", "RTX 4090"."""
    bf16_tflops: float | None
    """None where the chip has no bf16 (V100, T4) or no vendor figure was found."""
    fp16_tflops: float | None
    memory_gb: float | None
    memory_bandwidth_gb_s: float | None
    interconnect: str
    interconnect_gb_s: float | None
    """Both directions together, per GPU, as vendors quote it."""
    power_w: float | None
    measured_bf16_tflops: float | None
    """Largest matrix-multiply rate that was measured (MAMF)."""
    note: str
    source: Provenance

    @property
    def peak_tflops(self) -> float | None:
        """Dense 16-bit peak: bf16, else fp16."""
        return self.bf16_tflops or self.fp16_tflops

    @property
    def precision(self) -> Literal["bf16", "fp16"]:
        """The 16-bit format that `peak_tflops` is for."""
        return "fp16" if self.bf16_tflops is None and self.fp16_tflops is not None else "bf16"


@dataclass(frozen=True, slots=True)
class Model:
    """A model that people name, with the shape that memory and compute follow from."""

    name: str
    family: str
    version: str
    """As in the name: "3.1" of Llama 3.1; "" where the family has only one."""
    parameters: float
    active_parameters: float
    """Equal to `parameters` for a dense model."""
    layers: int | None
    hidden_size: int | None
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    intermediate_size: int | None
    vocabulary: int | None
    context: int | None
    kv_latent_dim: int | None
    """Elements a token and layer of a compressed KV cache (multi-head latent attention); None for ordinary ones."""
    source: Provenance

    @property
    def is_mixture_of_experts(self) -> bool:
        """Whether a token passes through only a part of the parameters."""
        return self.active_parameters < self.parameters


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance type in one region. Prices are for the whole instance, an hour; None means that none is listed."""

    provider: str
    name: str
    accelerator: str | None
    """Name of an `Accelerator`; None for one that the catalog does not know."""
    accelerator_label: str
    """As the provider writes it."""
    accelerator_count: int
    accelerator_memory_gb: float | None
    vcpus: int | None
    memory_gib: float | None
    network_gbps: float | None
    rdma: bool | None
    region: str
    currency: str
    on_demand: float | None
    reserved: float | None
    spot: float | None
    note: str
    source: Provenance
    origin: RowOrigin = "catalog"

    def price(self, purchase: Literal["on_demand", "reserved", "spot"] = "on_demand") -> float | None:
        """Price of the instance, an hour; None where none is listed."""
        return {"on_demand": self.on_demand, "reserved": self.reserved, "spot": self.spot}[purchase]

    def price_per_gpu(self, purchase: Literal["on_demand", "reserved", "spot"] = "on_demand") -> float | None:
        """Price of one accelerator, an hour; None where none is listed."""
        price = self.price(purchase)
        return None if price is None else price / self.accelerator_count


@dataclass(frozen=True, slots=True)
class StoragePrice:
    """Storage, a GB and month. Requests and retrieval are not included."""

    provider: str
    region: str
    product: str
    kind: Literal["object", "block"]
    tier: Literal["hot", "cool", "archive"]
    price: float
    currency: str
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class TransferPrice:
    """Moving data, a GB: one step of a price scale, from `from_gb` to `to_gb` of a month's volume."""

    provider: str
    region: str
    kind: Literal["internet egress", "inter-region", "online transfer service"]
    item: str
    from_gb: float
    to_gb: float | None
    price: float
    currency: str
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class DedicatedLine:
    """A port of a private circuit, an hour. `price` is None where none was found."""

    provider: str
    item: str
    bandwidth_gbps: float | None
    price: float | None
    currency: str
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class OfflineDevice:
    """An appliance that data is shipped on."""

    provider: str
    name: str
    capacity_tb: float | None
    job_price: float | None
    currency: str
    included_days: float | None
    available: bool | None
    """False: no longer sold to new customers."""
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class Commitment:
    """What a commitment takes off the on-demand price, as a fraction."""

    provider: str
    years: int
    payment: str
    discount: float
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class SpotTerm:
    """What is known of interruptible capacity: `kind` says which figure, a range where low and high differ."""

    provider: str
    kind: Literal["monthly interruption", "notice seconds", "discount"]
    item: str
    low: float
    high: float
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class GridCarbon:
    """Grams of CO2e a kWh of the grid behind a region."""

    provider: str
    region: str
    place: str
    grams_per_kwh: float
    carbon_free: float | None
    """Share of hours' energy that is carbon-free, where the provider publishes it."""
    source: Provenance


@dataclass(frozen=True, slots=True)
class PowerUsage:
    """Power usage effectiveness of a provider's data centres."""

    provider: str
    scope: str
    pue: float
    source: Provenance


@dataclass(frozen=True, slots=True)
class Notice:
    """A sourced fact that a planner must know and that is no price: an end of sale, an export rule."""

    subject: str
    topic: Literal["export control", "availability", "price change"]
    text_en: str
    text_zh: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A training run as its authors reported it."""

    name: str
    parameters: float | None
    active_parameters: float | None
    tokens: float | None
    sequence_length: int | None
    accelerator: str
    gpu_count: int | None
    gpu_hours: float | None
    days: float | None
    mfu: float | None
    cost_usd: float | None
    energy_mwh: float | None
    single_run: bool
    """Whether the hours are those of this one run, so that a calculator can be checked on it."""
    note: str
    source: Provenance


@dataclass(frozen=True, slots=True)
class MfuMeasurement:
    """A measured model FLOPs utilisation, as a fraction."""

    accelerator: str
    parameters: float
    sequence_length: int
    gpu_count: int
    mfu: float
    hfu: float
    precision: str
    sharding: str
    checkpointing: bool
    source: Provenance


@dataclass(frozen=True, slots=True)
class MemoryMeasurement:
    """Memory of one GPU of a published run, GiB."""

    name: str
    tensor_parallel: int
    pipeline_parallel: int
    states_gib: float
    activations_gib: float
    activations_selective_gib: float
    source: Provenance


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of a price file that could not be used."""

    file: str
    line: int
    """1-based, as a spreadsheet counts."""
    reason: str


@dataclass(frozen=True, slots=True)
class PriceFile:
    """What a price file holds."""

    instances: tuple[Instance, ...]
    problems: tuple[Problem, ...]
