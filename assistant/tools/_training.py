"""Works out one training-cost estimate: what is known, what follows, and where each figure came from.

FLOPs: 6 x parameters x tokens (arXiv 2001.08361), 4 when the base is frozen (no gradients of its weights); attention:
llm-foundry's count. Compute-optimal: 20 tokens a parameter (arXiv 2203.15556).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language
from assistant.tools import _checks, _mfu, _offers, _shape, _training_notes
from assistant.tools._shape import Shape
from assistant.tools._training_inputs import TrainingInputs
from assistant.tools.base import Calculation, Filled
from knowledge import catalog
from knowledge.catalog.records import Accelerator, Provenance

TOKENS_PER_PARAMETER = 20.0
BYTES_PER_TOKEN = 4.0
DEFAULT_GPU = "H100-SXM-80GB"
PLAUSIBLE_MFU = 0.75
"""Above every published utilisation (Megatron 1T: 56%, arXiv 2205.05198; small models on one node: 64%)."""
_FACTOR = {"pretraining": 6.0, "continued": 6.0, "full": 6.0, "lora": 4.0, "qlora": 4.0}
_KAPLAN = Provenance("arXiv 2001.08361 (6ND)", "https://arxiv.org/abs/2001.08361")
_CHINCHILLA = Provenance("arXiv 2203.15556 (20 tokens a parameter)", "https://arxiv.org/abs/2203.15556")


@dataclass(frozen=True, slots=True)
class _Speed:
    """Useful FLOP/s of one GPU over the whole run, with its range; `stated` when the question gave it."""

    likely: float
    low: float
    high: float
    stated: bool
    measured: bool = True
    expected: _mfu.Utilisation | None = None


class _Result(dict[str, Any]):
    """Result fields; an uncertain one brings its range along."""

    def put(self, name: str, value: float, low: float, high: float) -> None:
        self[name] = value
        if not low == high == value:
            self[f"{name}_range"] = [min(low, high), max(low, high)]


def _check(inputs: TrainingInputs, language: Language) -> None:
    _checks.fraction("mfu", inputs.mfu, language, name_zh="MFU", name_en="An MFU")
    _checks.fraction("goodput", inputs.goodput, language, name_zh="有效训练时间占比", name_en="A share of useful time")
    _checks.within("days", inputs.days, 0, 36_500, language, name_zh="天数", name_en="A number of days", above=True)
    whole = (inputs.nodes or 0) * inputs.gpus_per_node
    stated = inputs.nodes is not None and "gpus_per_node" in inputs.model_fields_set
    if stated and inputs.gpu_count is not None and whole != inputs.gpu_count:
        raise InvalidField(
            "gpu_count",
            f"{inputs.nodes} 台 × {inputs.gpus_per_node} 卡 = {whole} 张，与 {inputs.gpu_count} 张不符。"
            if language == "zh"
            else f"{inputs.nodes} nodes x {inputs.gpus_per_node} GPUs are {whole}, not {inputs.gpu_count}.",
            accepted=str(whole),
        )


def _shape_of(inputs: TrainingInputs, language: Language) -> Shape | None:
    found = _shape.resolve(inputs.model, inputs.parameters, inputs.active_parameters, language)
    if isinstance(found, catalog.AmbiguousName):
        clause = _shape.which_model(found, inputs.model or "", language)
        known = (inputs.tokens, inputs.examples, inputs.data_bytes, inputs.days, inputs.gpu_hours, inputs.budget)
        also = inputs.compute_optimal or any(value is not None for value in known)
        _training_notes.ask(["model"] if also else ["model", "tokens"], language, model=clause)
    return found


def _tokens(inputs: TrainingInputs, shape: Shape, language: Language) -> float | None:
    """Tokens that are trained on, all epochs together.

    Raises:
        MissingInputs: examples are given without their length.
    """
    if inputs.tokens is not None:
        return inputs.tokens * inputs.epochs
    if inputs.examples is not None:
        length = inputs.tokens_per_example or inputs.sequence_length
        if length is None:
            question = "平均每条样本多少 token？" if language == "zh" else "How many tokens has an example on average?"
            raise MissingInputs(["tokens_per_example"], question)
        return inputs.examples * length * inputs.epochs
    if inputs.data_bytes is not None:
        return inputs.data_bytes / BYTES_PER_TOKEN * inputs.epochs
    return TOKENS_PER_PARAMETER * shape.active_parameters if inputs.compute_optimal else None


def _price(inputs: TrainingInputs, row: Accelerator, language: Language) -> _offers.Price | float | None:
    """A stated price of a GPU-hour, else the listed one, else None.

    Raises:
        InvalidField: the provider is unknown.
        MissingInputs: the budget is in a currency that no listed price is in, and no rate is given.
    """
    if inputs.price_per_gpu_hour is not None:
        return inputs.price_per_gpu_hour
    if inputs.price_per_instance_hour is not None:
        return inputs.price_per_instance_hour / inputs.gpus_per_node
    provider = None
    if inputs.provider is not None:
        try:
            provider = catalog.find_provider(inputs.provider)
        except catalog.UnknownName as unknown:
            raise InvalidField("provider", str(unknown), nearest=unknown.nearest) from unknown

    def listed(currency: str | None) -> _offers.Price | None:
        return _offers.gpu_hour(
            row.name, purchase=inputs.purchase, provider=provider, region=inputs.region, currency=currency
        )

    price = listed(None)
    if price is None or inputs.currency in (None, price.currency) or inputs.exchange_rate is not None:
        return price
    own = listed(inputs.currency)
    if own is None and inputs.budget is not None:
        _training_notes.ask_rate(inputs.currency or "", price.currency, row.name, language)
    return own


def _whole_gpus(count: float, per_node: int) -> int:
    """Whole GPUs, and whole nodes beyond one."""
    least = max(math.ceil(count - 1e-9), 1)
    return least if least <= per_node else math.ceil(least / per_node) * per_node


class Estimate:
    """One estimate while it is worked out: what is known, what was found, and where it came from."""

    def __init__(self, inputs: TrainingInputs, language: Language) -> None:
        _check(inputs, language)
        self.inputs, self.language = inputs, language
        self.shape = _shape_of(inputs, language)
        self.gpus = inputs.gpu_count or (inputs.nodes * inputs.gpus_per_node if inputs.nodes else None)
        spent = self.gpus * inputs.days * 24 if self.gpus is not None and inputs.days is not None else None
        self.hours = inputs.gpu_hours or spent
        self.money = inputs.cost or inputs.budget
        self.match = _checks.accelerator(inputs.gpu or DEFAULT_GPU, language)
        self.row = self.match.row
        self.result = _Result()
        self.filled: dict[str, Filled] = {}
        self.warnings: list[str] = []
        self.used: list[Provenance] = []
        self.factor = _FACTOR[inputs.method]
        self.has_speed = any((inputs.mfu, inputs.tokens_per_second_per_gpu, inputs.tokens_per_second))

    def calculate(self) -> Calculation:
        """Work out what is missing."""
        inputs = self.inputs
        if self.shape is None and inputs.tokens is not None and (measured := self._measured_speed()):
            return self._measured(inputs.tokens * inputs.epochs, measured)
        if self.shape is None and (inputs.tokens is not None or (self.hours is None and self.money is None)):
            fields = ["model"] if inputs.tokens is not None else ["model", "tokens"]
            _training_notes.ask(fields if inputs.gpu or inputs.gpu_count else [*fields, "gpu"], self.language)
        self._take_price()
        if self.shape is None and not inputs.compute_optimal and (bought := self._bought()):
            return bought
        shape, tokens = self._job()
        share = _mfu.attention_share(shape, inputs.sequence_length) if inputs.sequence_length else 0.0
        per_token = self.factor * shape.active_parameters * (1 + share)
        speed = self._speed(shape, per_token)
        self._time(tokens, per_token, speed)
        self._utilisation(speed, share)
        self._spread_over_gpus()
        self._cost(speed, per_token)
        return self._explain(shape, speed, share)

    def _bought(self) -> Calculation | None:
        """GPU-hours and their price, whatever is trained: two of hours, money and price give the third."""
        stated = isinstance(self.price, float | int)
        if self.hours is not None and self.money is not None and not stated:
            hours, cost, price = self.hours, self.money, self.money / self.hours
            formula = ("卡时价 = 账单 ÷ 卡时", "price of a GPU-hour = bill / GPU-hours")
        elif self.hours is not None and isinstance(self.rate, float | int):
            hours, cost, price = self.hours, self.hours * self.rate, self.rate
            formula = ("费用 = 卡时 × 卡时价", "cost = GPU-hours x price")
        elif self.money is not None and isinstance(self.rate, float | int):
            hours, cost, price = self.money / self.rate, self.money, self.rate
            formula = ("卡时 = 金额 ÷ 卡时价", "GPU-hours = money / price")
        else:
            return None
        self.result |= {"gpu_hours": hours, "cost": cost, "price_per_gpu_hour": price, "currency": self.currency}
        if self.gpus is not None:
            self.result |= {"gpu_count": self.gpus, "days": hours / self.gpus / 24}
            formula = (f"{formula[0]}；天数 = 卡时 ÷ 卡数 ÷ 24", f"{formula[1]}; days = GPU-hours / GPUs / 24")
        if isinstance(self.price, _offers.Price):
            self.used += [row.source for row in self.price.rows]
            self.filled["price_per_gpu_hour"] = Filled(price, self.price.origin, f"{self.currency}/gpu-hour")
        return Calculation(
            dict(self.result),
            formula[0 if self.language == "zh" else 1],
            filled=self.filled,
            warnings=_checks.age_warnings(self.used, self.language),
            sources=_checks.sources(self.used),
        )

    def _measured_speed(self) -> float | None:
        """Tokens a second of one GPU, where it was measured and the GPUs are known."""
        inputs = self.inputs
        if inputs.tokens_per_second_per_gpu is not None:
            return inputs.tokens_per_second_per_gpu
        return inputs.tokens_per_second / self.gpus if inputs.tokens_per_second and self.gpus else None

    def _measured(self, tokens: float, speed: float) -> Calculation:
        """Tokens at a measured speed, whatever the model."""
        hours = tokens / speed / 3600
        zh = self.language == "zh"
        self.result |= {"tokens": tokens, "tokens_per_second_per_gpu": speed, "gpu_hours": hours}
        formula = "卡时 = token ÷ 每卡速度 ÷ 3600" if zh else "GPU-hours = tokens / speed of a GPU / 3,600"
        if self.gpus:
            self.result |= {"gpu_count": self.gpus, "days": hours / self.gpus / 24}
            formula += "；天数 = 卡时 ÷ 卡数 ÷ 24" if zh else "; days = GPU-hours / GPUs / 24"
        if self.inputs.price_per_gpu_hour is not None:
            price = self.inputs.price_per_gpu_hour
            currency = self.inputs.currency or "USD"
            self.result |= {"price_per_gpu_hour": price, "cost": hours * price, "currency": currency}
            formula += "；费用 = 卡时 × 卡时价" if zh else "; cost = GPU-hours x price"
        said = (
            "按给出的实测速度，未计重启、存档和评测。"
            if zh
            else "At the stated speed; restarts, checkpoints and evaluation not counted."
        )
        return Calculation(dict(self.result), formula, filled=self.filled, assumptions=(said,))

    def _take_price(self) -> None:
        inputs = self.inputs
        stated = (self.money, inputs.provider, inputs.price_per_gpu_hour, inputs.price_per_instance_hour)
        about_money = any(value is not None for value in stated)
        has_work = inputs.compute_optimal or any((inputs.tokens, inputs.examples, inputs.data_bytes))
        looking_back = self.hours is not None and not self.has_speed and has_work
        # Who asks what utilisation a run had does not ask what it would cost at today's list prices.
        self.priced = about_money or not looking_back
        self.price = _price(inputs, self.row, self.language) if self.priced else None
        listed = self.price if isinstance(self.price, _offers.Price) else None
        self.to_currency = 1.0
        self.currency = inputs.currency or (listed.currency if listed else "USD")
        if listed is not None and listed.currency != self.currency and inputs.exchange_rate is not None:
            self.to_currency = inputs.exchange_rate
        self.rate = listed.likely * self.to_currency if listed else self.price
        self.result["currency"] = self.currency

    def _available_hours(self) -> float:
        """GPU-hours that are given or that the money buys.

        Raises:
            MissingInputs: the price is missing.
        """
        if self.hours is not None:
            return self.hours
        if self.money is None or not isinstance(self.rate, float | int):
            _training_notes.ask(["price_per_gpu_hour"], self.language)
        return self.money / self.rate

    def _job(self) -> tuple[Shape, float | None]:
        """Model and tokens; without a model the compute-optimal one that time or money allow."""
        inputs = self.inputs
        if self.shape is not None:
            tokens = _tokens(inputs, self.shape, self.language)
            if tokens is None and self.hours is None and self.money is None:
                optimal = TOKENS_PER_PARAMETER * self.shape.active_parameters
                _training_notes.ask(["tokens"], self.language, shape=self.shape, optimal=optimal)
            return self.shape, tokens
        if inputs.tokens_per_second_per_gpu is not None or inputs.tokens_per_second is not None:
            _training_notes.ask(["parameters"], self.language)
        available, peak = self._available_hours(), _checks.peak_flops(self.row, self.language)
        size = 7e9
        for _ in range(8):  # utilisation depends weakly on the size, so this settles fast
            share = inputs.mfu or _mfu.expect(self.row, _shape.from_size(size), gpus=self.gpus or 64).likely
            size = math.sqrt(available * 3600 * peak * share / (self.factor * TOKENS_PER_PARAMETER))
        _checks.parameters("parameters", size, self.language)
        self.result["solved"] = "parameters"
        self.used.append(_CHINCHILLA)
        return _shape.from_size(size), TOKENS_PER_PARAMETER * size

    def _speed(self, shape: Shape, per_token: float) -> _Speed:
        """What one GPU does: stated tokens a second, a stated MFU, or the modelled one."""
        inputs = self.inputs
        per_gpu = inputs.tokens_per_second_per_gpu
        if per_gpu is None and inputs.tokens_per_second is not None:
            if self.gpus is None:
                _training_notes.ask(["gpu_count"], self.language)
            per_gpu = inputs.tokens_per_second / self.gpus
        if per_gpu is not None or inputs.mfu is not None:
            rate = per_gpu * per_token if per_gpu is not None else self._peak() * (inputs.mfu or 0)
            rate *= inputs.goodput or 1.0
            # What is stated is a speed while it runs; restarts and checkpoints may take a tenth more.
            return _Speed(rate, rate if inputs.goodput else rate * _mfu.GOODPUT, rate, stated=True)
        length = inputs.sequence_length or _mfu.DEFAULT_SEQUENCE
        expected = _mfu.expect(
            self.row,
            shape,
            gpus=self.gpus or 64,
            sequence_length=length,
            fp8=inputs.fp8,
            goodput=inputs.goodput or _mfu.GOODPUT,
        )
        # The modelled utilisation counts 6ND; with attention counted, the same speed is a higher utilisation.
        counted = self._peak() * (1 + (_mfu.attention_share(shape, length) if inputs.sequence_length else 0))
        likely, low, high = (value * counted for value in (expected.likely, expected.low, expected.high))
        return _Speed(likely, low, high, False, expected.measured, expected)

    def _share(self, speed: _Speed) -> float:
        """The speed as a share of the peak."""
        return speed.likely / (self.row.peak_tflops * 1e12) if self.row.peak_tflops else 0.0

    def _peak(self) -> float:
        return _checks.peak_flops(self.row, self.language)

    def _time(self, tokens: float | None, per_token: float, speed: _Speed) -> None:
        """GPU-hours from the work, or the work from the GPU-hours."""
        result = self.result
        if tokens is None:
            hours = self._available_hours()
            result.put("tokens", *(hours * rate * 3600 / per_token for rate in (speed.likely, speed.low, speed.high)))
            result["solved"] = "tokens"
            spread = (hours, hours, hours)
        elif result.get("solved") == "parameters":
            result["tokens"] = tokens
            hours = self._available_hours()
            spread = (hours, hours, hours)
        else:
            result["tokens"] = tokens
            needed = tuple(per_token * tokens / 3600 / rate for rate in (speed.likely, speed.high, speed.low))
            # More than any run reaches is no past run but a deadline that can't be kept.
            past = self.hours is not None and not self.has_speed
            if past and self.hours is not None and needed[0] / self.hours * self._share(speed) <= PLAUSIBLE_MFU:
                result["solved"] = "mfu"
                result.put("expected_gpu_hours", *needed)
                spread = (self.hours, self.hours, self.hours)
            else:
                spread = (needed[0], needed[1], needed[2])
        result["flops"] = per_token * result["tokens"]
        if self.inputs.recompute:
            result["hardware_flops"] = result["flops"] * 4 / 3
        result.put("gpu_hours", *spread)
        result["tokens_per_second_per_gpu"] = result["tokens"] / (spread[0] * 3600)
        self.spread = spread

    def _utilisation(self, speed: _Speed, share: float) -> None:
        result, peak = self.result, self.row.peak_tflops
        if peak is None or (self.inputs.gpu is None and speed.stated):
            return
        result["peak_tflops"] = peak
        if result.get("solved") == "mfu":
            result["mfu"] = result["flops"] / (self.spread[0] * 3600 * peak * 1e12)
            field, name_zh, name_en = "days", "由此反推的 MFU", "The MFU that this implies"
            if speed.expected is not None:
                found = speed.expected
                result.put("expected_mfu", *(value * (1 + share) for value in (found.likely, found.low, found.high)))
        else:
            field, name_zh, name_en = "mfu", "由此速度反推的 MFU", "The MFU that this speed implies"
            rates = (
                (speed.likely, speed.likely, speed.likely) if speed.stated else (speed.likely, speed.low, speed.high)
            )
            result.put("mfu", *(rate / (peak * 1e12) for rate in rates))
        _checks.fraction(field, result["mfu"], self.language, name_zh=name_zh, name_en=name_en)

    def _spread_over_gpus(self) -> None:
        """Days from GPUs, or whole GPUs and nodes from days."""
        result, days, per_node = self.result, self.inputs.days, self.inputs.gpus_per_node
        hours, low, high = self.spread
        gpus = self.gpus
        solved = result.get("solved")
        if gpus is None and days is not None:
            counts = [_whole_gpus(value / (24 * days), per_node) for value in self.spread]
            gpus = counts[0]
            if solved is None:
                result["solved"] = "gpu_count"
                result["gpu_count_range"] = counts[1:]
        if gpus is None:
            return
        result["gpu_count"], result["nodes"] = gpus, math.ceil(gpus / per_node)
        result.put("days", *(value / (24 * gpus) for value in (hours, low, high)))
        if self.gpus is not None and days is not None and solved is None:
            result["deadline_days"] = days
            result["meets_deadline"] = result["days"] <= days
            result["gpu_count_for_deadline"] = _whole_gpus(hours / (24 * days), per_node)

    def _cost(self, speed: _Speed, per_token: float) -> None:
        inputs, result = self.inputs, self.result
        hours = self.spread[0]
        if inputs.cost is not None:
            result |= {"cost": inputs.cost, "price_per_gpu_hour": inputs.cost / hours}
            return
        if inputs.budget is not None:
            result["budget"] = inputs.budget
        rate = self.rate
        if not isinstance(rate, float | int):
            if inputs.budget is not None:
                result["affordable_price_per_gpu_hour"] = inputs.budget / hours
            return
        result["price_per_gpu_hour"] = rate
        self._list_offers()
        result.put("cost", *(value * rate for value in self.spread))
        extras = self._extras()
        if inputs.budget is not None:
            result["within_budget"] = result["cost"] + extras <= inputs.budget * (1 + 1e-9)
            result["affordable_gpu_hours"] = max(inputs.budget - extras, 0.0) / rate
            result["affordable_tokens"] = result["affordable_gpu_hours"] * 3600 * speed.likely / per_token

    def _list_offers(self) -> None:
        price = self.price
        if not isinstance(price, _offers.Price):
            return
        self.filled["price_per_gpu_hour"] = Filled(self.rate, price.origin, f"{self.currency}/GPU-hour")
        self.result["offers"] = [
            {
                "provider": offer.provider,
                "instance": offer.name,
                "region": offer.region,
                "price_per_gpu_hour": (per_hour := (offer.price_per_gpu(price.purchase) or 0) * self.to_currency),
                "cost": per_hour * self.spread[0],
            }
            for offer in price.rows
        ]
        sources = [offer.source for offer in price.rows]
        self.used += sources
        self.warnings += _checks.age_warnings(sources, self.language)
        if self.to_currency != 1.0:
            self.result["exchange_rate"] = self.to_currency

    def _extras(self) -> float:
        """Storage for the time of the run, and transfer."""
        inputs, result = self.inputs, self.result
        extras = 0.0
        if inputs.storage_bytes is not None and inputs.storage_price_per_gb_month is not None:
            months = result.get("days", 30.0) / 30.0
            result["storage_cost"] = inputs.storage_bytes / 1e9 * inputs.storage_price_per_gb_month * months
            extras += result["storage_cost"]
        if inputs.transfer_bytes is not None and inputs.transfer_price_per_gb is not None:
            result["transfer_cost"] = inputs.transfer_bytes / 1e9 * inputs.transfer_price_per_gb
            extras += result["transfer_cost"]
        if extras:
            result["total_cost"] = result["cost"] + extras
        return extras

    def _explain(self, shape: Shape, speed: _Speed, share: float) -> Calculation:
        inputs, result, language = self.inputs, self.result, self.language
        default_gpu = inputs.gpu is None and not (speed.stated and inputs.mfu is None)
        if default_gpu:
            self.filled["gpu"] = Filled(self.row.name, "default")
        result |= {
            "model": shape.name,
            "parameters": shape.parameters,
            "active_parameters": shape.active_parameters,
            "gpu": self.row.name if inputs.gpu is not None or default_gpu else "",
        }
        if "price_per_gpu_hour" not in result and self.priced:
            self.warnings.append(_training_notes.no_price(self.row.name, inputs.provider, language))
        if not speed.stated:
            self.filled["goodput"] = Filled(inputs.goodput or _mfu.GOODPUT, "default", "fraction")
            if result.get("solved") != "mfu":
                self.filled["mfu"] = Filled(result.get("mfu"), "catalog", "fraction")
            if not speed.measured:
                self.warnings.append(_training_notes.not_measured(self.row.name, _mfu.stand_ins(self.row)[0], language))
            self.used += _mfu.sources()
        rows = [self.row.source, *([shape.source] if shape.source else []), *self.used, _KAPLAN]
        if inputs.compute_optimal:
            rows.append(_CHINCHILLA)
        said = _training_notes.assumptions(
            inputs.model_dump(),
            shape,
            self.row.name if default_gpu else "",
            self.match.others if inputs.gpu is not None else (),
            speed.stated,
            language,
        )
        return Calculation(
            result=dict(result),
            formula=_training_notes.formula(self.factor, bool(share), result, language),
            filled=self.filled,
            assumptions=tuple(said),
            warnings=tuple(self.warnings),
            sources=_checks.sources(rows),
        )
