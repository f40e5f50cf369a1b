"""Speed, in milliseconds and as ratios to a calibration loop of the same run: `python -m evals.bench [--json FILE]`.

The calibration loop is fixed work in pure Python and numpy, so that figures of two machines, or of a busy and an idle
one, can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

QUESTIONS = 200
PROCESSES = 7
HEAVY = ("torch", "sentence_transformers", "gradio", "langchain")
_SUITES = Path(__file__).with_name("suites")


def calibration() -> float:
    """Milliseconds of fixed work: the best of five."""
    matrix = np.random.default_rng(0).standard_normal((192, 192))

    def work() -> None:
        total = 0
        for number in range(150_000):
            total += number % 7
        for _ in range(40):
            np.linalg.norm(matrix @ matrix)

    return min(_milliseconds(work) for _ in range(5))


def _milliseconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def questions() -> list[str]:
    """Questions of the suites, the same in every run."""
    lines = [line for name in sorted(_SUITES.glob("*.jsonl")) for line in name.read_text("utf-8").splitlines() if line]
    turns = [json.loads(line)["turns"][0] for line in lines]
    step = max(1, len(turns) // QUESTIONS)
    return turns[::step][:QUESTIONS]


def phases() -> dict[str, list[float]]:
    """Milliseconds of each phase of each answer, over the data folder's documents."""
    from assistant.commands.common import open_advisor

    advisor = open_advisor()
    advisor.ask("warm up")
    taken: dict[str, list[float]] = {}
    for question in questions():
        timings = advisor.ask(question).timings_ms.model_dump()
        timings["all but encoding"] = timings["total"] - timings["encode"]
        for name, value in timings.items():
            taken.setdefault(name, []).append(value)
    return taken


def new_process() -> tuple[list[float], list[str]]:
    """Wall milliseconds of `advisor ask` in new processes, and the heavy modules that it imported."""
    command = [sys.executable, "-m", "assistant", "ask", "怎么防止云上训练的账单失控？"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}

    def ask() -> None:
        subprocess.run(command, check=True, capture_output=True, env=environment)

    taken = [_milliseconds(ask) for _ in range(PROCESSES)]
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", *command[1:]], capture_output=True, text=True, check=True
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in traced.stderr.splitlines()}
    return taken, sorted(imported & set(HEAVY))


def calculators() -> dict[str, list[float]]:
    """Milliseconds of calculations in process."""
    from assistant.tools.registry import get_tool

    cases: Sequence[tuple[str, dict[str, Any]]] = (
        ("estimate_training_cost", {"parameters": 7e9, "tokens": 2e12, "gpu": "H100", "gpu_count": 64}),
        ("estimate_memory", {"parameters": 7e9, "method": "full", "gpu": "A100 80G"}),
        ("select_instances", {"gpu": "H100", "gpu_count": 8}),
        ("plan_data_transfer", {"volume_bytes": 1e15, "bandwidth_bits_per_second": 1e10}),
    )
    return {name: [_milliseconds(partial(get_tool(name).run, given)) for _ in range(100)] for name, given in cases}


def measure() -> dict[str, Any]:
    """Everything, as p50 and p95 in milliseconds."""
    started, heavy = new_process()
    rows = {"advisor ask, new process": started}
    rows |= {f"answer: {name}" if name != "total" else "answer, whole": values for name, values in phases().items()}
    rows |= {f"tool: {name}": values for name, values in calculators().items()}
    return {
        "calibration_ms": calibration(),
        "heavy_imports": heavy,
        "rows": {
            name: {"p50": float(np.percentile(v, 50)), "p95": float(np.percentile(v, 95))} for name, v in rows.items()
        },
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    arguments = parser.parse_args()
    measured = measure()
    base = measured["calibration_ms"]
    print(
        f"calibration loop: {base:.1f} ms; heavy imports of `ask`: {', '.join(measured['heavy_imports']) or 'none'}\n"
    )
    print(f"{'':32}{'p50 ms':>10}{'p95 ms':>10}{'p50/loop':>10}{'p95/loop':>10}")
    for name, row in measured["rows"].items():
        print(f"{name:32}{row['p50']:10.2f}{row['p95']:10.2f}{row['p50'] / base:10.2f}{row['p95'] / base:10.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
