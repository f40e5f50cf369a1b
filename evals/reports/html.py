"""A run as one HTML file that asks nothing of the network: charts, groups, and every case with what was wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from assistant.schema import Answer, Citation
from evals.reports.terminal import with_interval
from evals.runs import Result, Run
from evals.schema import Case
from evals.statistics import Estimate
from evals.summary import RATES, Group, Summary

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def html(run: Run, summary: Summary) -> str:
    """The page. Every text of the run is escaped; the only script is the page's own filter."""
    style = files("evals.reports").joinpath("report.css").read_text(encoding="utf-8")
    script = files("evals.reports").joinpath("report.js").read_text(encoding="utf-8")
    manifest = run.manifest
    cases = run.cases()
    ordered = sorted(run.results, key=lambda r: (r.sound, r.strict, r.passed, r.case_id, r.repeat))
    body = [
        f"<h1>{escape(manifest.suite)}</h1>",
        f"<p class=meta>{escape(manifest.id)} · suite {escape(manifest.suite_hash)} · "
        f"{summary.total.cases} cases × {manifest.repeat} · seed {manifest.seed}</p>",
        f"<details class=meta><summary>target</summary><pre>{escape(_pretty(manifest.target))}</pre></details>",
        "<section class=cards>",
        *(_card(name, summary.total.metrics.get(name)) for name in ("pass", "strict", "sound")),
        *_refusal_cards(summary),
        "</section>",
        "<h2>Metrics</h2>",
        _bars([(m, summary.total.metrics[m]) for m in RATES if m in summary.total.metrics]),
        "<h2>By topic and language</h2>",
        _group_table([*summary.topics, *summary.languages, summary.total]),
        _consistency(summary),
        "<h2>Time and length</h2>",
        _histogram("seconds per case", [r.seconds for r in run.results]),
        _histogram("characters", [len(r.answer.text) for r in run.results if r.answer]),
        "<h2>Cases</h2>",
        _filters(list(cases.values())),
        *(_case(cases[result.case_id], result, manifest.repeat) for result in ordered),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(manifest.suite)} · evaluation</title><style>{style}</style></head><body>\n"
        + "\n".join(body)
        + f"\n<script>{script}</script></body></html>\n"
    )


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _card(name: str, value: Estimate | None) -> str:
    if value is None:
        return ""
    return (
        f"<div class=card><b>{value.mean:.1%}</b><span>{escape(name)}</span>"
        f"<small>{value.low:.1%} to {value.high:.1%}</small></div>"
    )


def _refusal_cards(summary: Summary) -> list[str]:
    found = summary.refusal
    if found.f1 is None:
        return []
    parts = [f"{name} {value:.1%}" for name in ("precision", "recall") if (value := getattr(found, name)) is not None]
    return [f"<div class=card><b>{found.f1:.1%}</b><span>refusal F1</span><small>{', '.join(parts)}</small></div>"]


def _bars(values: Sequence[tuple[str, Estimate]]) -> str:
    """Horizontal bars with the interval as a line."""
    rows = []
    for index, (name, value) in enumerate(values):
        y = 24 * index
        low, high = 170 + 500 * value.low, 170 + 500 * value.high
        rows.append(
            f'<text x="162" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="track" x="170" y="{y + 3}" width="500" height="16"/>'
            f'<rect class="bar" x="170" y="{y + 3}" width="{500 * value.mean:.1f}" height="16"/>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y + 11}" y2="{y + 11}"/>'
            f'<text x="678" y="{y + 15}">{value.mean:.1%} (n={value.n})</text>'
        )
    return f'<svg viewBox="0 0 790 {24 * len(values) + 4}" role="img" aria-label="metrics">{"".join(rows)}</svg>'


def _histogram(title: str, values: Sequence[float], bins: int = 24) -> str:
    if not values:
        return ""
    top = sorted(values)[min(len(values) - 1, int(0.99 * len(values)))] or 1.0
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int(value / top * bins))] += 1  # the last bin also holds what is longer
    peak = max(counts)
    bars = "".join(
        f'<rect class="bar" x="{i * 16}" y="{80 - 70 * c / peak:.1f}" width="14" height="{70 * c / peak:.1f}">'
        f"<title>{i * top / bins:.3g} to {(i + 1) * top / bins:.3g}: {c}</title></rect>"
        for i, c in enumerate(counts)
        if c
    )
    middle = sorted(values)[len(values) // 2]
    return (
        f'<figure><svg class=small viewBox="0 0 {16 * bins} 96" role="img" aria-label="{escape(title)}">{bars}'
        f'<text x="0" y="93">0</text><text x="{16 * bins}" y="93" text-anchor="end">{top:.3g}</text></svg>'
        f"<figcaption>{escape(title)}, median {middle:.3g}</figcaption></figure>"
    )


def _group_table(groups: Sequence[Group]) -> str:
    metrics = [m for m in RATES if any(m in g.metrics for g in groups)]
    head = "".join(f"<th>{escape(m)}</th>" for m in metrics)
    rows = []
    for group in groups:
        cells = "".join(_rate_cell(group.metrics.get(m)) for m in metrics)
        rows.append(f"<tr><th>{escape(group.name)}</th><td>{group.cases}</td>{cells}</tr>")
    return f"<div class=wide><table><tr><th></th><th>cases</th>{head}</tr>{''.join(rows)}</table></div>"


def _rate_cell(value: Estimate | None) -> str:
    if value is None:
        return "<td>–</td>"
    return f'<td style="--v:{value.mean:.3f}" title="{escape(with_interval(value))}">{value.mean:.0%}</td>'


def _consistency(summary: Summary) -> str:
    if not summary.consistency:
        return ""
    rows = "".join(
        f"<tr><th>{escape(c.group)}</th><td>{c.agreement:.0%}</td>"
        f"<td>{'–' if c.across_languages is None else f'{c.across_languages:.0%}'}</td>"
        f"<td class=left>{escape(', '.join(c.odd))}</td></tr>"
        for c in summary.consistency
    )
    return (
        "<h2>Consistency</h2><div class=wide><table><tr><th>group</th><th>agreement</th><th>across languages</th>"
        f"<th>odd ones</th></tr>{rows}</table></div>"
    )


def _filters(cases: Sequence[Case]) -> str:
    def choice(label: str, values: Sequence[str]) -> str:
        options = "".join(f"<option>{escape(v)}</option>" for v in values)
        return f'<label>{label} <select data-filter="{label}"><option value="">all</option>{options}</select></label>'

    return (
        "<form class=filters>"
        + choice("topic", sorted({c.topic for c in cases}))
        + choice("language", sorted({c.language for c in cases}))
        + choice("verdict", ["fail", "pass", "strict", "sound", "error"])
        + '<label>text <input type="search" data-filter="text"></label> <output></output></form>'
    )


def _case(case: Case, result: Result, repeats: int) -> str:
    verdict = _verdict(result)
    number = f" #{result.repeat}" if repeats > 1 else ""
    reasons = "".join(f"<li><b>{escape(k)}</b> {escape(v)}</li>" for k, v in result.reasons.items())
    error = f"<p class=error>{escape(result.error)}</p>" if result.error else ""
    earlier = "".join(f"<p class=turn>{escape(turn)}</p>" for turn in case.turns[:-1])
    return (
        f'<details class="case {verdict}" data-topic="{escape(case.topic)}" data-language="{escape(case.language)}" '
        f'data-verdict="{verdict}"><summary><span class=verdict>{verdict}</span> <code>{escape(case.id)}{number}</code>'
        f" {escape(case.question)}</summary>{earlier}{error}<ul class=reasons>{reasons}</ul>"
        f"<div class=two><div><h4>answer</h4>{_answer(result.answer)}</div>"
        f"<div><h4>expected</h4>{_expected(case)}</div></div></details>"
    )


def _verdict(result: Result) -> str:
    if result.error:
        return "error"
    return "sound" if result.sound else "strict" if result.strict else "pass" if result.passed else "fail"


def _answer(answer: Answer | None) -> str:
    if answer is None:
        return "<p>none</p>"
    runs = "".join(
        f"<details><summary>[{escape(run.n)}] {escape(run.tool)}</summary>"
        f"<pre>{escape(_pretty(run.model_dump(mode='json')))}</pre></details>"
        for run in answer.tool_runs
    )
    cited = "".join(_citation(citation) for citation in answer.citations)
    missing = f"<p>missing: {escape('; '.join(answer.missing))}</p>" if answer.missing else ""
    return f"<p class=status>{answer.status}</p><div class=text>{escape(answer.text)}</div>{missing}{runs}{cited}"


def _citation(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    place = f"{citation.title} › {citation.section}{page}"
    return f"<blockquote><cite>[{citation.n}] {escape(place)}</cite>{escape(citation.quote)}</blockquote>"


def _expected(case: Case) -> str:
    expect = case.expect
    lines = [f"status: {' or '.join(expect.status)}"]
    lines += ["key point: " + " | ".join(point) for point in expect.key_points]
    lines += [f"must not: {pattern}" for pattern in expect.must_not]
    lines += [f"number: {n.value:g} {n.unit} ± {n.rel_tol:.0%}" for n in expect.numbers]
    lines += [f"tool: {tool.name} {_pretty(tool.arguments) if tool.arguments else ''}" for tool in expect.tools]
    lines += [f"source: {s.document} § {s.section or 'any'}" for s in expect.sources]
    extra = (case.model_extra or {}).get("what_an_expert_expects")
    lines += [f"an expert: {extra}"] if extra else []
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
