"""`weft opt` runs named passes on IR text; its errors name the line, the pass and the stage."""

import io

import pytest

from weft.codegen.pipeline import generic_passes
from weft.schedule.pipeline import PASSES
from weft.tools import cli
from weft.tools.commands.opt import ALL_PASSES, summary
from weft.uop import to_text
from weft.uop.text import from_text

AST = """\
%0 = DEFINE_GLOBAL float*global(100)  arg=0
%1 = VIEW float*global(100) %0  arg=ShapeTracker((View((10, 10, ), (10, 1, ), 0, None), ))
%2 = DEFINE_GLOBAL float*global(100)  arg=1
%3 = VIEW float*global(100) %2  arg=ShapeTracker((View((10, 10, ), (10, 1, ), 0, None), ))
%4 = LOAD float %3
%5 = STORE void %1 %4
%6 = SINK void %5
"""
TENSOR = """\
%0 = DEVICE void  arg='X'
%1 = UNIQUE void  arg=1000000000
%2 = BUFFER float %0 %1  arg=6
%3 = RESHAPE float %2  arg=(2, 3, )
%4 = REDUCE_AXIS float %3  arg=Reduce(Ops.ADD, (1, ))
%5 = EXPAND float %4  arg=(2, 3, )
%6 = ADD float %5 %3
%7 = SINK void %6
"""


@pytest.fixture
def opt(monkeypatch, capsys):
    """The exit code, output and errors of `weft opt`, given IR text on standard input."""

    def call(text, *words):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        code = cli.main(["opt", *words, "-"])
        return code, *capsys.readouterr()

    return call


def test_passes_run_in_the_order_given(opt):
    code, printed, _ = opt(AST, "--pass", "lowerer,loop_coalescing")
    assert code == 0 and printed.count(" RANGE ") == 1 and "arg=100" in printed
    assert opt(AST, "--pass", "lowerer")[1].count(" RANGE ") == 2


def test_the_result_is_the_input_of_the_next_call(opt):
    _, half, _ = opt(AST, "--pass", "lowerer")
    assert to_text(from_text(half)) == half
    assert opt(half, "--pass", "loop_coalescing") == opt(AST, "--pass", "lowerer,loop_coalescing")


def test_a_file_is_read(tmp_path, capsys):
    path = tmp_path / "kernel.ir"
    path.write_text("# a comment\n" + AST)
    assert cli.main(["opt", "--pass", "lowerer", str(path)]) == 0
    assert " RANGE " in capsys.readouterr().out


def test_every_pass_of_the_code_generator_runs_in_order(opt):
    names = ",".join(step.name for step in generic_passes())
    code, printed, errors = opt(AST, "--pass", names)
    assert code == 0, errors
    assert " ENDRANGE " in printed and printed.splitlines()[-1].split()[2] == "SINK"


def test_every_pass_of_the_scheduler_runs_in_order(opt):
    code, printed, errors = opt(TENSOR, "--pass", ",".join(step.name for step in PASSES))
    assert code == 0, errors
    assert " KERNEL " in printed and " ASSIGN " in printed


def test_stored_values_follow_as_comments(opt):
    code, printed, _ = opt(TENSOR, "--pass", "must_realize,group_reduces")
    assert code == 0
    marked = [line for line in printed.splitlines() if line.startswith("#")]
    assert marked == ["# %4 realized", "# %6 realized"]
    assert to_text(from_text(printed)) == TENSOR


def test_a_pass_of_the_scheduler_runs_alone(opt):
    assert opt(TENSOR, "--pass", "split_reduces")[:2] == (0, TENSOR)


def test_list_has_every_pass_in_order(capsys):
    assert cli.main(["opt", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [s.name for s in (*PASSES, *generic_passes())]
    assert len(lines) == len(ALL_PASSES), "two passes have one name"


@pytest.mark.parametrize("step", ALL_PASSES.values(), ids=lambda step: step.name)
def test_every_pass_has_a_summary(step):
    assert len(summary(step)) > 20


def test_a_pass_without_a_docstring_is_described_by_its_module():
    from weft.codegen.loops import loop_coalescing

    assert summary(ALL_PASSES["loop_coalescing"]) == loop_coalescing.__doc__.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pass", "loop_coalesing"], "loop_coalescing"),
        (["--pass", "nothing_like_it"], "weft opt --list"),
        (["--pass", ","], "no pass is named"),
        ([], "no pass is named"),
        (["--pass", "create_kernels"], "--pass must_realize,group_kernels,create_kernels"),
        (["--pass", "lowerer", "--target", "X"], "a family and an architecture"),
        (["--pass", "loop_coalescing"], "loop_coalescing takes a lowered kernel"),
        (["--pass", "loop_coalescing"], "--pass loop_coalescing on a kernel AST"),
        (["--pass", "clean"], "clean takes a tensor graph"),
        (["--pass", "lowerer,lowerer"], "lowerer takes a kernel AST"),
    ],
)
def test_errors_name_the_expected_input(opt, words, said):
    code, printed, errors = opt(AST, *words)
    assert code == 1 and printed == "" and said in errors


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%7 = NOTHING void", "there is none called 'NOTHING'"),
        ("%9 = SINK void", "expected '%7 = OP dtype sources'"),
        ("%7 =", "expected '%7 = OP dtype sources'"),
        ("%7 = SINK flat %5", "'flat' is no dtype"),
        ("%7 = SINK void %8", "uses %8 before it is defined"),
        ("%7 = SINK void %5  arg=Unknown(1)", "Unknown(1) is not valid in an arg"),
        ("%7 = SINK void %5  arg=(", "was never closed"),
    ],
)
def test_text_that_does_not_parse(opt, line, said):
    code, _, errors = opt(AST + line, "--pass", "lowerer")
    assert code == 1 and "line 8" in errors and said in errors


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_text_without_a_node(opt, text):
    code, _, errors = opt(text, "--pass", "lowerer")
    assert code == 1 and "no node" in errors


@pytest.mark.parametrize("line", ["LOAD float", "STORE void %1", "ADD float %5 %5", "REDUCE float"])
@pytest.mark.parametrize("name", ["clean", "lowerer", "loop_coalescing"])
def test_nodes_without_their_sources(opt, line, name):
    code, _, errors = opt(f"{AST}%7 = {line}\n%8 = SINK void %7\n", "--pass", name)
    assert code == 1 and f"{name} takes" in errors and "because" in errors


def test_a_node_with_too_many_sources_is_named(opt):
    code, _, errors = opt(
        TENSOR.replace("ADD float %5 %3", "ADD float %5 %3 %3"), "--pass", "clean"
    )
    assert code == 1 and "ADD takes 2 sources, and has 3" in errors


def test_an_arg_of_the_wrong_kind_is_an_error_of_ours(opt):
    text = opt(AST, "--pass", "lowerer")[1].replace("CONST int  arg=10", "CONST int")
    code, _, errors = opt(text, "--pass", "loop_coalescing")
    assert code == 1 and "loop_coalescing failed on this IR" in errors


def test_a_file_that_is_not_there(capsys):
    assert cli.main(["opt", "--pass", "lowerer", "nowhere.ir"]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert cli.main(["opt", "--pass", "lowerer"]) == 1
    assert "no file is named" in capsys.readouterr().err


def test_an_architecture_that_is_not_offered(opt):
    code, _, errors = opt(AST, "--pass", "lowerer", "--target", "REF:none")
    assert code == 1 and "offers no offline device" in errors


def test_a_target_has_the_passes_of_its_plugin(opt, capsys):
    pytest.importorskip("weft_simd", reason="weft-cpu-clang is not installed")
    assert cli.main(["opt", "--list", "--target", "CPU:x86-64-v3"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert "loop_peeling" in names and names.index("reduction_rows") < names.index("lowerer")
    code, printed, _ = opt(AST, "--pass", "reduction_rows,lowerer", "--target", "CPU:x86-64-v3")
    assert code == 0 and printed.count(" RANGE ") == 2, "a pass before lowering takes an AST"
    code, _, errors = opt(AST, "--pass", "reduction_rows")
    assert code == 1 and "a target may have passes of its own" in errors


def test_capabilities_of_a_target_may_be_changed(opt):
    words = ["--pass", "lowerer,index_widening"]
    narrow, wide = (
        opt(AST, *words, "--compute", f'{{"wide_indices": {value}}}') for value in ("false", "true")
    )
    assert narrow[0] == wide[0] == 0
    assert "RANGE int " in narrow[1] and "RANGE long " in wide[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cache_bytes", "the fields cache_bytes, dtypes"),
        ('{"cache": 1}', "the fields cache_bytes, dtypes"),
        ('{"cache_bytes": "large"}', "'large' is no int"),
    ],
)
def test_capabilities_that_there_are_not(opt, text, said):
    code, printed, errors = opt(AST, "--pass", "lowerer", "--compute", text)
    assert code == 1 and printed == "" and said in errors


def test_every_pass_of_a_plugin_runs_in_order(opt):
    weft_simd = pytest.importorskip("weft_simd", reason="weft-cpu-clang is not installed")
    names = ",".join(step.name for step in weft_simd.passes())
    code, printed, errors = opt(AST, "--pass", names, "--target", "CPU:x86-64-v3")
    assert code == 0, errors
    assert printed.splitlines()[-1].split()[2] == "SINK"
