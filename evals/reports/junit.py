"""A run as JUnit XML, one test a case: what CI systems show."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from evals.runs import Run

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(run: Run) -> str:
    """XML text. A case that doesn't pass is a failure with its reasons; one without an answer is an error."""
    cases = run.cases()
    failed = sum(not r.passed and not r.error for r in run.results)
    errors = sum(bool(r.error) for r in run.results)
    seconds = sum(r.seconds for r in run.results)
    suite = ET.Element(
        "testsuite",
        name=_clean(run.manifest.suite),
        tests=str(len(run.results)),
        failures=str(failed),
        errors=str(errors),
        time=f"{seconds:.3f}",
        timestamp=run.manifest.started.isoformat(timespec="seconds"),
    )
    for result in run.results:
        case = cases[result.case_id]
        name = result.case_id if run.manifest.repeat == 1 else f"{result.case_id}#{result.repeat}"
        element = ET.SubElement(
            suite,
            "testcase",
            classname=_clean(f"{run.manifest.suite}.{case.topic}"),
            name=_clean(name),
            time=f"{result.seconds:.3f}",
        )
        if result.error:
            ET.SubElement(element, "error", message=_clean(result.error[:300]))
        elif not result.passed:
            reasons = [f"{metric}: {reason}" for metric, reason in result.reasons.items()]
            fault = ET.SubElement(element, "failure", message=_clean("; ".join(reasons)[:300] or "empty text"))
            fault.text = _clean(f"{case.question}\n\n{result.answer.text if result.answer else ''}")
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
