"""Objects are loaded without a linker; damaged ones are refused and never crash."""

from __future__ import annotations

import ctypes

import pytest

from weft.plugin import CompileError
from weft_cpu_clang import elf
from weft_cpu_clang.elf_image import ARCHITECTURES

pytestmark = pytest.mark.skipif(not elf.loads_here(), reason="objects load on Linux only")

SOURCE = """
static const float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
static int counter = 40;
static int zeroed[64];
extern void *memcpy(void *, const void *, unsigned long);
extern double cbrt(double);
int count(void) { zeroed[3] = counter; return ++counter + zeroed[4]; }
float pick(int i) { return table[i & 3]; }
const float *where(void) { return table; }
int chosen(int i) {
  switch (i) { case 0: return 12; case 1: return 9; case 2: return 71; case 3: return 5;
               case 4: return -4; case 5: return 33; case 6: return 2; default: return i * 3; }
}
void copy(char *to, const char *from, unsigned long n) { memcpy(to, from, n); }
void *far(void) { return (void *)memcpy; }
double root(double x) { return cbrt(x); }
"""


@pytest.fixture(scope="module")
def binary(bench):
    return bench.compiler.compile(SOURCE, "pick")


@pytest.fixture(scope="module")
def loaded(binary):
    return elf.LoadedObject(binary)


def function(loaded, name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(loaded.address(name))


def test_constants_and_jump_tables(loaded):
    pick = function(loaded, "pick", ctypes.c_float, ctypes.c_int)
    assert [pick(i) for i in range(4)] == [1.0, 2.0, 4.0, 8.0]
    chosen = function(loaded, "chosen", ctypes.c_int, ctypes.c_int)
    assert [chosen(i) for i in range(9)] == [12, 9, 71, 5, -4, 33, 2, 21, 24]


def test_data_is_writable_and_begins_as_written(loaded):
    count = function(loaded, "count", ctypes.c_int)
    assert [count(), count()] == [41, 42]


def test_functions_of_the_c_library(loaded):
    copy = function(loaded, "copy", None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong)
    target = ctypes.create_string_buffer(5)
    copy(target, b"hello", 5)
    assert target.raw == b"hello"
    assert function(loaded, "root", ctypes.c_double, ctypes.c_double)(27.0) == pytest.approx(3.0)


def test_code_is_not_writable(loaded):
    """Write xor execute, as the system's own table says it."""
    address = loaded.address("pick")
    for line in open("/proc/self/maps"):
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        if first <= address < last:
            assert line.split()[1].startswith("r-x")
            return
    pytest.fail("the code is in no mapping")


def test_missing_function_is_named(loaded):
    with pytest.raises(CompileError) as caught:
        loaded.address("absent")
    assert "absent" in (caught.value.because or "")


def test_undefined_symbol(bench):
    source = "extern int nobody_has_this(int); int f(int a) { return nobody_has_this(a); }"
    with pytest.raises(CompileError) as caught:
        elf.LoadedObject(bench.compiler.compile(source, "f"))
    assert caught.value.asked == "nobody_has_this"


@pytest.mark.parametrize("length", [0, 1, 15, 16, 63, 64, 65, 200, 500])
def test_cut_short(binary, length):
    with pytest.raises(CompileError):
        elf.LoadedObject(binary[:length])


def test_another_machine(binary):
    with pytest.raises(CompileError) as caught:
        elf.LoadedObject(binary[:18] + b"\x08\x00" + binary[20:])
    assert "x86-64 or aarch64" in (caught.value.because or "")


def test_an_object_of_the_other_architecture(binary):
    own = elf.own_architecture()
    other = next(each for each in ARCHITECTURES.values() if each is not own)
    with pytest.raises(CompileError) as caught:
        elf.check_object(binary[:18] + other.machine.to_bytes(2, "little") + binary[20:])
    assert other.name in caught.value.because and own.name in caught.value.because


def test_damage_is_refused_or_harmless(binary, damaged_copies_of):
    """Any bytes may be wrong: loading either says so or gives an object, and does not crash."""
    refused = 0
    for damaged in damaged_copies_of(binary, 11):
        try:
            elf.LoadedObject(damaged)
        except CompileError:
            refused += 1
    assert refused > 20


def test_damaged_header_fields(binary):
    """Each byte of the header and of the section table, at its extremes."""
    start = int.from_bytes(binary[40:48], "little")
    for place in [*range(64), *range(start, len(binary))]:
        for value in (0, 0x7F, 0xFF):
            damaged = bytearray(binary)
            damaged[place] = value
            try:
                elf.LoadedObject(bytes(damaged))
            except CompileError:
                continue
