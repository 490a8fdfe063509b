"""docs/glossary.md lists the techniques of the compiler: what each does, its module, its source.

The page is made from the docstrings of modules of the core and of the plugins. A module is on it if
the first line of its docstring is `<Term>: <sentence>.` and a line of it begins with `Source: `.
Others are left out. A second line `Also: <term>, <term>.` gives other names of the technique.
`python -m pytest tests/architecture/test_glossary.py --update-golden` writes the page.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from weft.testing.golden import Golden

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "glossary.md"
CORE = ROOT / "core" / "weft"
HEADER = """\
# Glossary

The techniques of the compiler: what each does, the module that does it, and a source to read about
it. Generated from the docstrings of the modules by
`python -m pytest tests/architecture/test_glossary.py --update-golden`; do not edit it.

| term | what it does | module | source |
|---|---|---|---|
"""
FIRST_LINE = re.compile(r"([A-Z][^:.`]*): (\S.*\.)")


class Entry(NamedTuple):
    term: str
    sentence: str
    source: str
    also: tuple[str, ...] = ()


def entry_of(docstring: str) -> Entry | None:
    """The row that a module's docstring requests, if any."""
    first = FIRST_LINE.fullmatch(docstring.partition("\n")[0].strip())
    source = re.search(r"^Source: (.+?)(?=\n\s*\n|\n(?:in|out): |\Z)", docstring, re.M | re.S)
    if first is None or source is None:
        return None
    also = re.match(r".*\nAlso: ((?:.|\n(?!\n))+?)\.(?=\n|\Z)", docstring)
    return Entry(
        first.group(1),
        first.group(2),
        " ".join(source.group(1).split()),
        tuple(re.split(r",\s", also.group(1))) if also else (),
    )


def see(entry: Entry, also: str, path: Path) -> str:
    """The row of another name of a technique."""
    return row(Entry(also[0].upper() + also[1:], f"see {entry.term}.", ""), path)


def row(entry: Entry, path: Path) -> str:
    file = path.relative_to(ROOT).as_posix()
    link = f"[`{file.removeprefix('core/weft/')}`](../{file})"
    cells = (entry.term, entry.sentence, link, entry.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def glossary() -> str:
    found = []
    folders = [CORE, *sorted((ROOT / "plugins").glob("*/weft_*"))]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        entry = entry_of(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        if entry is not None:
            found.append((entry.term.lower(), path.as_posix(), row(entry, path)))
            found += [(a.lower(), path.as_posix(), see(entry, a, path)) for a in entry.also]
    return HEADER + "".join(line for *_, line in sorted(found))


def test_page_matches_docstrings(request: pytest.FixtureRequest) -> None:
    assert glossary() == Golden(PAGE, request.config.getoption("--update-golden"))


# What people search for who know compilers from textbooks and other code bases.
TERMS = {
    "affine analysis": "affine.py",
    "algebraic simplification": "clean_alu.py",
    "alias analysis": "alias.py",
    "all-reduce": "allreduce.py",
    "arena allocation": "memory_planning.py",
    "asynchronous copies": "tile_copies.py",
    "asynchronous copy": "copies.py",
    "auto-vectorization": "vector_lanes.py",
    "autotuning": "search.py",
    "backpropagation": "backward.py",
    "bank conflict": "bank_padding.py",
    "beam search": "search.py",
    "bitonic sorting network": "sorting.py",
    "blocked transpose": "blocked_transpose.py",
    "bluestein": "transforms.py",
    "bounds check elimination": "range_check_elimination.py",
    "buffer donation": "output_reuse.py",
    "cache blocking": "strategy.py",
    "caching allocator": "pool.py",
    "canonicalization": "simplify.py",
    "common subexpression elimination": "node.py",
    "constant folding": "folding.py",
    "copy elision": "clean_copy.py",
    "cost model": "loop_nest_costs.py",
    "counter-based random": "rng.py",
    "dead code elimination": "node.py",
    "dead store elimination": "dead_write_elimination.py",
    "delinearization": "delinearization.py",
    "dependence analysis": "assigns.py",
    "double buffering": "tile_copies.py",
    "epilogue fusion": "reduce_fusion.py",
    "fast fourier transform": "transforms.py",
    "functionalization": "alias.py",
    "gemv": "skinny_gemm.py",
    "gradient checkpointing": "checkpoint.py",
    "graph capture": "function.py",
    "graph partitioning": "kernels.py",
    "hash consing": "node.py",
    "hash-consing": "node.py",
    "histogram": "scatter_add.py",
    "horizontal fusion": "kernel_fusion.py",
    "if-conversion": "clamped_gather.py",
    "implicit im2col": "convolution.py",
    "index set splitting": "index_set_splitting.py",
    "index-set splitting": "index_set_splitting.py",
    "instruction scheduling": "linear_order.py",
    "instruction selection": "rules.py",
    "interval arithmetic": "bounds.py",
    "jit linking": "elf.py",
    "lazy evaluation": "tensor.py",
    "liveness analysis": "memory_planning.py",
    "loop coalescing": "loop_coalescing.py",
    "loop collapsing": "loop_coalescing.py",
    "loop distribution": "reduction_rows.py",
    "loop fission": "reduction_rows.py",
    "loop fusion": "loop_fusion.py",
    "loop interchange": "loop_interchange.py",
    "loop parallelization": "thread_parallelism.py",
    "loop peeling": "loop_peeling.py",
    "loop tail": "loop_peeling.py",
    "loop tiling": "strategy.py",
    "loop unrolling": "expander.py",
    "loop versioning": "alias_checks.py",
    "loop-invariant code motion": "linear_order.py",
    "memoization": "cache.py",
    "memory coalescing": "strategy.py",
    "memory planning": "memory_planning.py",
    "memory ssa": "buffer_versions.py",
    "micro-kernel": "register_tiling.py",
    "non-temporal store": "non_temporal_stores.py",
    "occupancy": "tiles.py",
    "operand packing": "operand_packing.py",
    "operator fusion": "kernel_fusion.py",
    "packed dot product": "packed_dot.py",
    "pattern matching": "matcher.py",
    "polynomial approximation": "transcendental.py",
    "predication": "any_lane_branches.py",
    "prefix scan": "prefix_scan.py",
    "prefix sum": "prefix_scans.py",
    "radix sort": "radix_sort.py",
    "range reduction": "transcendental.py",
    "recomputation": "checkpoint.py",
    "register blocking": "register_tiling.py",
    "register pressure": "loop_nest_costs.py",
    "register promotion": "accumulators.py",
    "reverse-mode differentiation": "backward.py",
    "scalar evolution": "affine.py",
    "scalar replacement": "accumulators.py",
    "scatter-add": "scatter_add.py",
    "sharding": "multi.py",
    "software pipelining": "tile_copies.py",
    "software prefetch": "software_prefetch.py",
    "split-k": "split_reduce.py",
    "stockham": "stages.py",
    "streaming stores": "non_temporal_stores.py",
    "strength reduction": "ops.py",
    "strip mining": "strip_mining.py",
    "strip-mining": "strip_mining.py",
    "structural hashing": "structural_key.py",
    "superword-level parallelism": "superwords.py",
    "swizzle": "warpgroup_source.py",
    "tensor core": "tensor_cores.py",
    "term rewriting": "rewrite.py",
    "thread pool": "threads.py",
    "topological sort": "item_order.py",
    "trace cache": "tracing_cache.py",
    "tree reduction": "group_reduction.py",
    "two-phase reduction": "split_reduce.py",
    "type promotion": "promotion.py",
    "unity build": "translation_units.py",
    "unroll and jam": "register_tiling.py",
    "unroll-and-jam": "register_tiling.py",
    "use-def": "use_def.py",
    "vectorization": "expander.py",
    "warp shuffle": "group_reduction.py",
    "work stealing": "threads.py",
}


@pytest.mark.parametrize("term", TERMS)
def test_a_standard_term_leads_to_its_module(term: str) -> None:
    places = [CORE, *(ROOT / "plugins").iterdir()]
    modules = [path for place in places for path in place.rglob(TERMS[term])]
    first = [
        (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
        for path in modules
    ]
    assert any(term in text.lower() for text in first), [path.as_posix() for path in modules]


def test_other_names_are_rows_that_lead_to_the_technique() -> None:
    entry = entry_of("Loop peeling: split off the rest.\nAlso: remainder loop, x.\n\nSource: y.")
    assert entry is not None and entry.also == ("remainder loop", "x")
    assert see(entry, "x", CORE / "render" / "rules.py").startswith("| X | see Loop peeling. | ")


def test_a_docstring_with_a_term_and_a_source_is_a_row() -> None:
    text = "Loop peeling: split off the rest.\n\nSource: Muchnick, 1997,\nchapter 17.\n\nin: x"
    assert entry_of(text) == Entry(
        "Loop peeling", "split off the rest.", "Muchnick, 1997, chapter 17."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Loop peeling: split off the rest.",
        "Loop peeling splits off the rest.\n\nSource: Muchnick, 1997.",
        "`run`: split off the rest.\n\nSource: Muchnick, 1997.",
        "Loop peeling: split off\nthe rest.\n\nSource: Muchnick, 1997.",
    ],
)
def test_other_docstrings_are_left_out(text: str) -> None:
    assert entry_of(text) is None


def test_cells_keep_the_table_whole() -> None:
    line = row(
        Entry("Mask", "computes a | b.", "none known; trivial"), CORE / "render" / "rules.py"
    )
    assert line.count(" | ") == 3 and r"a \| b" in line
