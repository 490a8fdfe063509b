"""docs/onnx_operators.md: the operators of ONNX that weft runs, and the backend tests that fail.

python tests/onnx/operators_page.py --write
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).parent))

from backend_cases import KINDS, cases
from expected_failures import EXPECTED_FAILURES

from weft.onnx import registry
from weft.onnx.operators import register_all

PAGE = Path(__file__).resolve().parents[2] / "docs" / "onnx_operators.md"

HEAD = """# ONNX operators

`weft.onnx` runs the operators below. The columns say from which opset on, and how: by a function
of `weft.onnx`, or by the function body that the schema of the package `onnx` gives. This page is
written by `tests/onnx/operators_page.py --write`; do not edit it.
"""


def versions() -> dict[str, dict[str, list[int]]]:
    """Domain -> operator -> the opsets in which its schema changed, from the package `onnx`."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.support_level == onnx.defs.OpSchema.SupportType.COMMON or schema.domain:
            found[schema.domain][schema.name].append(schema.since_version)
    return {
        domain: {name: sorted(each) for name, each in operators.items()}
        for domain, operators in found.items()
    }


def support(domain: str, name: str, newest: int) -> tuple[str, str]:
    """The first opset of an operator here, and how it is computed; ("", "") if it is not."""
    first = registry.versions(domain, name)
    if first:
        return str(first[0]), "function"
    if registry.find_host(domain, name, newest) is not None:
        return "1", "function on the host"
    schema = onnx.defs.get_schema(name, newest, domain)
    if schema.has_function or schema.has_context_dependent_function:
        return str(schema.since_version), "function body"
    return "", ""


def page() -> str:
    """The text of the page."""
    register_all()
    parts, missing = [HEAD], []
    for domain, operators in sorted(versions().items()):
        rows = []
        for name, opsets in sorted(operators.items()):
            since, how = support(domain, name, opsets[-1])
            if how:
                rows.append(f"| {name} | {since} | {how} |")
            else:
                missing.append(f"{domain or 'ai.onnx'}.{name}")
        if rows:
            parts.append(f"\n## Domain {domain or 'ai.onnx'}\n\n| operator | from opset | by |")
            parts.append("\n|---|---|---|\n" + "\n".join(rows) + "\n")
    parts.append("\n## Not supported\n\n")
    parts.append("\n".join(f"- {name}" for name in missing) + "\n" if missing else "None.\n")
    total = sum(len(cases(kind)) for kind in KINDS)
    parts.append(
        f"\n## Backend tests that do not pass\n\nThe package `onnx` has {total} backend tests. "
        f"{total - len(EXPECTED_FAILURES)} of them pass. These do not:\n\n"
        "| test | reason |\n|---|---|\n"
    )
    parts += [f"| {name} | {reason} |\n" for name, reason in sorted(EXPECTED_FAILURES.items())]
    return "".join(parts)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page())
