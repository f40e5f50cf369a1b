"""A follow-up's change to the last calculations: a slot, a factor, more of something; and slots put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.understand.changes import bare_number, relative_changes, without_change
from assistant.understand.frames import frame_of
from assistant.understand.mentions import Mentions
from assistant.understand.resolving import Resolved
from assistant.understand.slots import Frame, closest, fill
from assistant.understand.state import Call, Slot


def changed(calls: Sequence[Call], resolved: Resolved, turn: int) -> list[Call]:
    """The last calculations with what a follow-up changes; empty when it changes nothing of them."""
    first = frame_of(calls[0].tool)
    values = calls[0].values()
    mentions = resolved.mentions
    claimed = fill(first, mentions).arguments.keys() - values.keys()
    relative = {} if claimed else relative_changes(mentions.text, mentions, values)
    if relative:
        mentions = without_change(mentions)
    else:
        relative = bare_number(mentions, values)
    filling = fill(first, mentions)
    if (
        not relative
        and len(mentions.quantities) == 1
        and not mentions.names
        and not filling.arguments.keys() & values.keys()
    ):
        nearest = closest(first, mentions.quantities[0], mentions.text, values)
        relative = dict([nearest]) if nearest else {}
        mentions = replace(mentions, quantities=()) if nearest else mentions
        filling = fill(first, mentions)
    new = {name: value for name, value in filling.arguments.items() if values.get(name) != value}
    if new and filling.variants:
        return [merged_call(calls[0], first, arguments, turn) for arguments in (filling.arguments, *filling.variants)]
    merged = []
    for call in calls:
        known = frame_of(call.tool).arguments
        stated = _new(call, mentions) | {name: value for name, value in relative.items() if name in known}
        if stated:
            merged.append(merged_call(call, frame_of(call.tool), stated, turn))
    if not merged:
        return list(calls) if filling.arguments else []  # what is there already is said once more
    kept = [call for call in calls if all(call.tool != other.tool for other in merged)]
    return list({call.model_dump_json(): call for call in (*merged, *kept)}.values())


def merged_call(call: Call, frame: Frame, stated: Mapping[str, Any], turn: int) -> Call:
    """Earlier slots that the frame knows, with what is stated now."""
    dropped = frame.dropped_by(stated)
    slots = {name: slot for name, slot in call.slots.items() if name in frame.arguments and name not in dropped}
    slots |= {name: Slot(value=value, turn=turn) for name, value in stated.items()}
    settled = frame.settle({name: slot.value for name, slot in slots.items()})
    return Call(
        tool=frame.tool,
        slots={
            name: slots[name] if name in slots and slots[name].value == value else Slot(value=value, turn=turn)
            for name, value in settled.items()
        },
    )


def _new(call: Call, mentions: Mentions) -> dict[str, Any]:
    stated = fill(frame_of(call.tool), mentions).arguments
    return {name: value for name, value in stated.items() if call.values().get(name) != value}
