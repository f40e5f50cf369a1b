"""Calculator: unit-checked arithmetic over amounts that the user states, with every step shown.

A rate from a bill, a bill from a rate, whether bytes fit, differences, shares, changes, conversions, and free
expressions with units, which a small parser reads (nothing is evaluated as code).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import Field

from assistant.errors import InvalidField
from assistant.schema import Language, ToolRun
from assistant.tools import _calculation_words, _expression
from assistant.tools._expression import Value
from assistant.tools._inputs import ask
from assistant.tools.base import Calculation, Presentation, Tool, ToolInputs

Operation = Literal[
    "rate_from_bill",
    "bill_from_rate",
    "quantity_from_bill",
    "fits_in",
    "difference",
    "share",
    "change",
    "discount",
    "convert",
    "sum",
    "expression",
]
_NEEDS: Mapping[Operation, tuple[str, ...]] = {
    "expression": ("expression",),
    "rate_from_bill": ("bill", "quantity"),
    "bill_from_rate": ("quantity", "rate"),
    "quantity_from_bill": ("bill", "rate"),
    "fits_in": ("needed", "capacity"),
    "difference": ("before", "after"),
    "change": ("before", "after"),
    "share": ("part", "whole"),
    "discount": ("whole", "part"),
    "convert": ("quantity", "to_unit"),
    "sum": ("values",),
}


class CalculateInputs(ToolInputs):
    """Amounts as they were written, with their units ("400 hours", "$0.045/GB"), and what to do with them.

    Without an `operation` it follows from which amounts are given.
    """

    operation: Operation | None = None
    bill: str | None = Field(None, description='An amount of money in all, such as "$969"')
    quantity: str | None = Field(None, description='What it is for, such as "400 hours" or "20,167.32 GB"')
    rate: str | None = Field(None, description='A price a unit, such as "$0.045/GB"')
    avoided: str | None = Field(
        None, description='What would still be used of the quantity, such as "30 minutes" before an idle timeout'
    )
    needed: str | None = Field(None, description='What must fit, such as "80e9 bytes"')
    capacity: str | None = Field(None, description='What it must fit in, such as "79.33 GiB"')
    before: str | None = None
    after: str | None = None
    part: str | None = Field(None, description="Part of a whole, or a share of it such as 15%")
    whole: str | None = None
    values: tuple[str, ...] = Field((), description="Amounts to add up")
    to_unit: str | None = Field(None, description='Unit to convert to, such as "GiB" or "MB/s"')
    expression: str | None = Field(None, max_length=500, description='Such as "8 x 24 h x 30 days x $2.5/GPU-hour"')


def _operation(inputs: CalculateInputs, language: Language) -> Operation:
    """The stated operation, or the one whose amounts are given.

    Raises:
        MissingInputs: no operation has all that it needs.
    """
    given = {name for name in CalculateInputs.model_fields if getattr(inputs, name) not in (None, ())}
    if inputs.operation is not None:
        missing = [name for name in _NEEDS[inputs.operation] if name not in given]
        if missing:
            ask([(name, *_calculation_words.MISSING[name]) for name in missing], language)
        return inputs.operation
    for operation, needs in _NEEDS.items():
        if given.issuperset(needs) and operation not in ("difference", "discount"):
            return operation
    fields = [("expression", *_calculation_words.MISSING["expression"])]
    if "quantity" in given:
        fields = [("rate", *_calculation_words.MISSING["rate"])]
    elif "bill" in given:
        fields = [("quantity", *_calculation_words.MISSING["quantity"])]
    return ask(fields, language)


class _Work:
    """One calculation: reads amounts, keeps the steps."""

    def __init__(self, inputs: CalculateInputs, language: Language) -> None:
        self.inputs, self.language = inputs, language
        self.result: dict[str, Any] = {}
        self.steps: list[str] = []
        self.formula = ""

    def read(self, name: str) -> Value:
        """The amount of an argument.

        Raises:
            InvalidField: it holds none.
        """
        text = getattr(self.inputs, name)
        try:
            return _expression.read_amount(text)
        except ValueError as error:
            raise InvalidField(
                name,
                f"“{text}”里没有读到一个数量：请连单位一起写，例如 400 小时、$0.045/GB。"
                if self.language == "zh"
                else f"'{text}' is no amount ({error}); write it with its unit, such as 400 hours or $0.045/GB.",
            ) from error

    def put(self, name: str, value: Value) -> None:
        """Store a value in the unit that reads best, with that unit beside it."""
        number, unit = value.readable()
        self.result[name] = number
        if unit != "1":
            self.result[f"{name}_unit"] = unit

    def step(self, left: str, value: Value) -> None:
        """One line of the derivation."""
        self.steps.append(f"{left} = {value.text()}")

    def refuse(self, name: str, one: Value, other: Value) -> InvalidField:
        """An error for amounts whose units don't go together."""
        return InvalidField(
            name,
            f"单位对不上：{one.text()} 和 {other.text()} 不能这样运算，请检查单位。"
            if self.language == "zh"
            else f"The units don't go together: {one.text()} and {other.text()}; check them.",
        )

    def nonzero(self, name: str, value: Value) -> Value:
        """The value, unless something would be divided by zero.

        Raises:
            InvalidField: it is zero.
        """
        if value.number == 0:
            raise InvalidField(
                name,
                "除数必须不为 0。" if self.language == "zh" else f"{name} must not be 0: it would be divided by.",
                accepted="!= 0",
            )
        return value


def _rate_from_bill(work: _Work) -> None:
    bill, quantity = work.read("bill"), work.nonzero("quantity", work.read("quantity"))
    rate = bill / quantity if bill.dimension else Value(bill.number / quantity.readable()[0], {})
    work.put("bill", bill)
    work.put("quantity", quantity)
    work.put("rate", rate)
    work.step(f"{bill.text()} / {quantity.text()}", rate)
    work.formula = "rate = bill / quantity"
    _avoided(work, bill, quantity, rate)


def _avoided(work: _Work, bill: Value, quantity: Value, rate: Value) -> None:
    """What is saved when only a part would have been used."""
    if work.inputs.avoided is None:
        return
    kept = work.read("avoided")
    if not kept.like(quantity):
        raise work.refuse("avoided", kept, quantity)
    still = kept * rate if rate.dimension else Value(kept.number / quantity.number * bill.number, {})
    saved = bill - still
    work.put("still_paid", still)
    work.put("saved", saved)
    work.step(f"{kept.text()} x {rate.text()}", still)
    work.step(f"{bill.text()} - {still.text()}", saved)
    work.formula += "; saved = bill - used anyway x rate"


def _bill_from_rate(work: _Work) -> None:
    quantity, rate = work.read("quantity"), work.read("rate")
    bill = quantity * rate
    if not rate.dimension and not rate.is_fraction:
        # A bare number is a price for one unit of the quantity as written.
        bill = Value(quantity.readable()[0] * rate.number, {})
    if not bill.is_plain_money and rate.is_money_rate:
        raise work.refuse("rate", quantity, rate)
    work.put("quantity", quantity)
    work.put("rate", rate)
    work.put("bill", bill)
    work.step(f"{quantity.text()} x {rate.text()}", bill)
    work.formula = "bill = quantity x rate"
    if work.inputs.avoided is not None:
        _avoided(work, bill, quantity, rate)


def _quantity_from_bill(work: _Work) -> None:
    bill, rate = work.read("bill"), work.nonzero("rate", work.read("rate"))
    quantity = bill / rate
    work.put("bill", bill)
    work.put("rate", rate)
    work.put("quantity", quantity)
    work.step(f"{bill.text()} / {rate.text()}", quantity)
    work.formula = "quantity = bill / rate"


def _fits_in(work: _Work) -> None:
    needed, capacity = work.read("needed"), work.nonzero("capacity", work.read("capacity"))
    if not needed.like(capacity):
        raise work.refuse("needed", needed, capacity)
    left = capacity - needed
    work.result |= {
        "fits": needed.number <= capacity.number,
        "share": needed.number / capacity.number,
        "needed": needed.number,
        "capacity": capacity.number,
        "left": left.number,
    }
    if needed.dimension == {"byte": 1}:
        for name, value in (("needed", needed), ("capacity", capacity), ("left", left)):
            work.result |= {f"{name}_gb": value.number / 1e9, f"{name}_gib": value.number / 2**30}
    work.put("left_readable", left)
    work.step(f"{capacity.text()} - {needed.text()}", left)
    work.formula = "left = capacity - needed; 1 GiB = 2^30 bytes, 1 GB = 10^9 bytes"


def _difference(work: _Work) -> None:
    before, after = work.read("before"), work.read("after")
    if not before.like(after):
        raise work.refuse("after", before, after)
    difference = after - before
    work.put("before", before)
    work.put("after", after)
    work.put("difference", difference)
    work.step(f"{after.text()} - {before.text()}", difference)
    work.formula = "difference = after - before"
    if before.number:
        work.result["change"] = difference.number / before.number
        work.steps.append(f"{difference.text()} / {before.text()} = {work.result['change']:.4g}")
        work.formula += "; change = difference / before"


def _share(work: _Work) -> None:
    part, whole = work.read("part"), work.nonzero("whole", work.read("whole"))
    if part.is_fraction:
        value = whole * part
        work.result["share"] = part.number
        work.put("part", value)
        work.step(f"{whole.text()} x {part.text()}", value)
        work.put("rest", whole - value)
        work.formula = "part = whole x share"
    else:
        if not part.like(whole):
            raise work.refuse("part", part, whole)
        work.result["share"] = part.number / whole.number
        work.put("part", part)
        work.put("rest", whole - part)
        work.steps.append(f"{part.text()} / {whole.text()} = {work.result['share']:.4g}")
        work.formula = "share = part / whole"
    work.put("whole", whole)


def _discount(work: _Work) -> None:
    whole, off = work.read("whole"), work.read("part")
    if not off.is_fraction:
        raise work.refuse("part", off, whole)
    left = whole - whole * off
    work.put("whole", whole)
    work.put("price", left)
    work.put("saved", whole * off)
    work.result["discount"] = off.number
    work.step(f"{whole.text()} x (1 - {off.text()})", left)
    work.formula = "price = whole x (1 - discount)"


def _convert(work: _Work) -> None:
    value = work.read("quantity")
    unit = work.inputs.to_unit or ""
    try:
        number, name = value.into(unit)
    except ValueError as error:
        raise InvalidField(
            "to_unit",
            f"{value.text()} 不能换算成 {unit}。"
            if work.language == "zh"
            else f"{value.text()} has no value in {unit}.",
        ) from error
    work.result |= {"value": number, "value_unit": name}
    work.put("quantity", value)
    work.steps.append(f"{work.inputs.quantity} = {number:,.6g} {name}")
    work.formula = "conversion of units"


def _sum(work: _Work) -> None:
    amounts = []
    for text in work.inputs.values:
        try:
            amounts.append(_expression.read_amount(text))
        except ValueError as error:
            raise InvalidField("values", f"'{text}': {error}") from error
    total = amounts[0]
    for amount in amounts[1:]:
        if not amount.like(total):
            raise work.refuse("values", total, amount)
        total = total + amount
    work.put("value", total)
    work.put("mean", total / Value(float(len(amounts)), {}))
    work.step(" + ".join(amount.text() for amount in amounts), total)
    work.formula = "sum of the amounts"


def _free_expression(work: _Work) -> None:
    text = work.inputs.expression or ""
    try:
        value, steps = _expression.evaluate(text)
    except ValueError as error:
        raise InvalidField(
            "expression",
            f"算式“{text}”算不了：{error}。" if work.language == "zh" else f"'{text}' can't be worked out: {error}.",
        ) from error
    work.steps += steps
    if work.inputs.to_unit is not None:
        try:
            number, name = value.into(work.inputs.to_unit)
        except ValueError as error:
            raise InvalidField("to_unit", f"{value.text()} has no value in {work.inputs.to_unit}.") from error
        work.result |= {"value": number, "value_unit": name}
    else:
        work.put("value", value)
    work.formula = text


_WORKERS: Mapping[Operation, Callable[[_Work], None]] = {
    "rate_from_bill": _rate_from_bill,
    "bill_from_rate": _bill_from_rate,
    "quantity_from_bill": _quantity_from_bill,
    "fits_in": _fits_in,
    "difference": _difference,
    "change": _difference,
    "share": _share,
    "discount": _discount,
    "convert": _convert,
    "sum": _sum,
    "expression": _free_expression,
}


def _calculate(inputs: CalculateInputs, language: Language) -> Calculation:
    work = _Work(inputs, language)
    operation = _operation(inputs, language)
    _WORKERS[operation](work)
    return Calculation(
        result={"operation": operation, **work.result, "steps": work.steps},
        formula=work.formula,
        assumptions=_calculation_words.assumptions(work.result, language),
        warnings=_calculation_words.warnings(work.result, language),
    )


def _present(run: ToolRun, language: Language) -> Presentation:
    return _calculation_words.present(run, language)


TOOL = Tool(
    name="calculate",
    title={"zh": "带单位的算术", "en": "Arithmetic with units"},
    description={
        "zh": "对给出的数量做带单位检查的计算：账单反推单价、单价乘用量、放不放得下、差额、占比、换算、算式。",
        "en": "Unit-checked arithmetic over stated amounts: a rate from a bill, a bill from a rate, whether bytes fit, "
        "differences, shares, conversions, expressions.",
    },
    Inputs=CalculateInputs,
    calculate=_calculate,
    present=_present,
)
