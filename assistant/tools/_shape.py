"""The model that a calculation is about: a catalog row, or a shape that follows from its parameter count."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assistant.errors import InvalidField
from assistant.schema import Language
from assistant.tools import _checks
from assistant.tools import formatting as show
from knowledge import catalog
from knowledge.catalog.records import Model, Provenance

_ASPECT = 128
"""Hidden size over layers of GPT-3 175B and LLaMA 7B and 13B (arXiv 2005.14165, 2302.13971)."""
_HEAD_DIM = 128
_MISMATCH = 0.25


@dataclass(frozen=True, slots=True)
class Shape:
    """What memory and compute of a transformer follow from. `source` is None when the shape follows from a size."""

    name: str
    parameters: float
    active_parameters: float
    layers: float
    hidden_size: float
    heads: float
    kv_elements: float
    """Elements of the KV cache a token and layer (keys and values together)."""
    vocabulary: int | None
    source: Provenance | None
    others: tuple[str, ...] = ()

    @property
    def is_mixture_of_experts(self) -> bool:
        """Whether a token passes through only a part of the parameters."""
        return self.active_parameters < self.parameters


def from_size(parameters: float, active_parameters: float | None = None) -> Shape:
    """A dense shape of about this size: 12 x layers x hidden^2 parameters (arXiv 2001.08361), hidden = 128 x layers."""
    # A mixture of experts is as wide as a dense model of its active parameters.
    layers = ((active_parameters or parameters) / (12 * _ASPECT**2)) ** (1 / 3)
    hidden = _ASPECT * layers
    return Shape(
        name=show.parameters(parameters),
        parameters=parameters,
        active_parameters=active_parameters or parameters,
        layers=layers,
        hidden_size=hidden,
        heads=hidden / _HEAD_DIM,
        kv_elements=2 * hidden,
        vocabulary=None,
        source=None,
    )


def _from_row(match: catalog.Match[Model]) -> Shape:
    row = match.row
    rough = from_size(row.parameters, row.active_parameters)
    if row.layers is None or row.hidden_size is None or row.heads is None:
        return replace(rough, name=row.name, source=row.source, others=match.others)
    head_dim = row.head_dim or row.hidden_size / row.heads
    kv_elements = row.kv_latent_dim or 2 * (row.kv_heads or row.heads) * head_dim
    return Shape(
        name=row.name,
        parameters=row.parameters,
        active_parameters=row.active_parameters,
        layers=row.layers,
        hidden_size=row.hidden_size,
        heads=row.heads,
        kv_elements=kv_elements,
        vocabulary=row.vocabulary,
        source=row.source,
        others=match.others,
    )


def _contradiction(model: str, row: Shape, stated: float, language: Language) -> InvalidField:
    size, given = show.parameters(row.parameters), show.parameters(stated)
    return InvalidField(
        "parameters",
        f"{row.name} 的参数量是 {size}，与给出的 {given} 不符，请二选一。"
        if language == "zh"
        else f"{row.name} has {size} parameters, which contradicts the {given} given; keep one of them.",
        accepted=size,
    )


def resolve(
    model: str | None, parameters: float | None, active_parameters: float | None, language: Language
) -> Shape | catalog.AmbiguousName | None:
    """The shape; None when nothing names a model; the ambiguity when a name fits several.

    Raises:
        InvalidField: the size is impossible, more is active than there is, the name is unknown and no size is given,
            or name and size contradict each other.
    """
    _checks.parameters("parameters", parameters, language)
    _checks.parameters("active_parameters", active_parameters, language)
    if parameters is not None and active_parameters is not None and active_parameters > parameters:
        raise InvalidField(
            "active_parameters",
            f"激活参数 {show.parameters(active_parameters)} 不能多于总参数 {show.parameters(parameters)}。"
            if language == "zh"
            else f"Active parameters ({show.parameters(active_parameters)}) can't be more than all of them "
            f"({show.parameters(parameters)}).",
            accepted=f"<= {show.parameters(parameters)}",
        )
    if model is None:
        return None if parameters is None else from_size(parameters, active_parameters)
    names = [model] if parameters is None else [model, f"{model} {show.parameters(parameters)}"]
    ambiguous: catalog.AmbiguousName | None = None
    for name in names:
        try:
            shape = _from_row(catalog.find_model(name))
        except catalog.AmbiguousName as several:
            ambiguous = several
            continue
        except catalog.UnknownName as unknown:
            if parameters is not None:
                continue
            nearest = ", ".join(unknown.nearest)
            raise InvalidField(
                "model",
                f"目录里没有“{model}”这个模型。最接近的是：{nearest}。也可以直接给参数量。"
                if language == "zh"
                else f"No model '{model}' is in the catalog. Nearest: {nearest}. Its parameter count will do as well.",
                nearest=unknown.nearest,
            ) from unknown
        if parameters is not None and abs(shape.parameters - parameters) > _MISMATCH * shape.parameters:
            raise _contradiction(model, shape, parameters, language)
        return shape if active_parameters is None else replace(shape, active_parameters=active_parameters)
    if parameters is not None:
        return replace(from_size(parameters, active_parameters), name=model)
    return ambiguous


def which_model(several: catalog.AmbiguousName, model: str, language: Language) -> str:
    """A clause that asks which model is meant."""
    if language == "zh":
        return f"“{model}”具体是哪个（{'、'.join(several.candidates)}）"
    return f"which '{model}' it is ({', '.join(several.candidates)})"
