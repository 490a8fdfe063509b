"""Objects for aarch64 are linked anywhere; the compiler's own assembler says how words look."""

from __future__ import annotations

import random
import struct

import pytest

from weft.plugin import CompileError
from weft_cpu_clang.elf_aarch64 import ARCHITECTURE
from weft_cpu_clang.elf_architecture import Place
from weft_cpu_clang.elf_image import LinkedImage
from weft_cpu_clang.process import run
from weft_cpu_clang.toolchain import FLAGS
from weft_cpu_clang.translation_units import separated

TARGET = "--target=aarch64-linux-gnu"
BASE = 0x7F12_3456_7000
LIBRARY = {"memcpy": 0xFFFF_8765_4320, "cbrt": 0x1_2345_6780}

SOURCE = """
static const float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
static int counter = 40;
static int zeroed[64];
extern void *memcpy(void *, const void *, unsigned long);
extern double cbrt(double);
int count(void) { zeroed[3] = counter; return ++counter + zeroed[4]; }
const float *constants(void) { return table; }
void copy(char *to, const char *from, unsigned long n) { memcpy(to, from, n); }
void *distant(void) { return (void *)memcpy; }
double root(double x) { return cbrt(x) + 1.0; }
void *pointers[2] = {count, distant};
"""


@pytest.fixture(scope="module")
def compiled(bench):
    """Gives the object of a source for aarch64."""
    command = bench.device.toolchain.command

    def compiled_source(source, language="c"):
        flags = (*FLAGS, TARGET, "-mno-outline-atomics", "-c", "-x", language)
        return run((*command, *flags, "-", "-o", "-"), source)

    try:
        compiled_source("int f(void) { return 1; }")
    except CompileError as error:
        pytest.skip(f"this clang has no code generator for aarch64: {error.summary}")
    return compiled_source


@pytest.fixture(scope="module")
def binary(compiled):
    return compiled(SOURCE)


def linked(binary, base=BASE, library=LIBRARY):
    image = LinkedImage(binary)
    memory = bytearray(image.size)
    image.write(memoryview(memory), base, library.__getitem__)
    return image, memory


def word_at(memory, offset):
    return struct.unpack_from("<I", memory, offset)[0]


def signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


def addresses(memory, offset, base=BASE, most=24):
    """What a function's first instructions name: sums of ADRP with ADD or a load, and branches.

    A decoder of its own, after the tables of the Arm Architecture Reference Manual, C4.1.
    """
    pages, found = {}, []
    for at in range(offset, offset + 4 * most, 4):
        word = word_at(memory, at)
        rd, rn = word & 31, word >> 5 & 31
        if word >> 24 & 0x9F == 0x90:  # ADRP
            distance = signed((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)
            pages[rd] = (base + at & ~0xFFF) + (distance << 12)
        elif word >> 22 == 0x244 and rn in pages:  # ADD, 64 bits, not shifted
            found.append(("add", pages[rn] + (word >> 10 & 0xFFF)))
        elif word >> 24 & 0x3B == 0x39 and rn in pages:  # LDR and STR, unsigned offset
            found.append(("access", pages[rn] + ((word >> 10 & 0xFFF) << (word >> 30))))
        elif word >> 26 in (0x05, 0x25):  # B, BL
            found.append(("branch", base + at + 4 * signed(word & 0x3FFFFFF, 26)))
        if word == 0xD65F03C0 or word >> 26 == 0x05:  # RET, or a call at the end
            break
    return found


def test_constants_and_data_are_found(binary):
    image, memory = linked(binary)
    assert image.architecture is ARCHITECTURE
    ((kind, table),) = addresses(memory, image.offset("constants"))
    assert kind == "add"
    assert struct.unpack_from("<4f", memory, table - BASE) == (1.0, 2.0, 4.0, 8.0)
    reached = addresses(memory, image.offset("count"))
    counters = [at for kind, at in reached if kind == "access" and at - BASE >= image.constant]
    assert counters and all(word_at(memory, at - BASE) in (40, 0) for at in counters)
    assert 40 in [word_at(memory, at - BASE) for at in counters]


def test_calls_out_of_reach_go_through_a_veneer(binary):
    image, memory = linked(binary)
    for name, callee in (("copy", "memcpy"), ("root", "cbrt")):
        targets = [at for kind, at in addresses(memory, image.offset(name)) if kind == "branch"]
        stub = targets[0] - BASE
        assert word_at(memory, stub) == 0x58000050, "ldr x16, 8"
        assert word_at(memory, stub + 4) == 0xD61F0200, "br x16"
        assert struct.unpack_from("<Q", memory, stub + 8) == (LIBRARY[callee],)
        assert stub % 16 == 0 and stub < image.constant


def test_addresses_of_others_are_read_from_the_table(binary):
    image, memory = linked(binary)
    ((kind, entry),) = addresses(memory, image.offset("distant"))
    assert kind == "access"
    assert struct.unpack_from("<Q", memory, entry - BASE) == (LIBRARY["memcpy"],)


def test_pointers_in_data_are_absolute(binary):
    image, memory = linked(binary)
    pointers = struct.unpack_from("<2Q", memory, image.offset("pointers"))
    assert pointers == (BASE + image.offset("count"), BASE + image.offset("distant"))


def test_veneers_of_the_compiler_look_alike(compiled):
    assert word_of(compiled, "ldr x16, #8") == 0x58000050
    assert word_of(compiled, "br x16") == 0xD61F0200


def word_of(compiled, instruction):
    """How the assembler encodes an instruction."""
    binary = compiled(f".globl f\n.text\nf: {instruction}\n", "assembler")
    image, memory = linked(binary)
    return word_at(memory, image.offset("f"))


def relocated(word, kind, address, target, addend=0):
    memory = bytearray(struct.pack("<II", word, 0))
    ARCHITECTURE.relocate(Place(memoryview(memory), 0, address), kind, target, addend)
    return word_at(memory, 0)


AT = 0x5555_0000_1004
ENCODINGS = [
    # kind, instruction without its field, target less address, the instruction with it
    (275, "adrp x7, #0", 0x1234_5678, "adrp x7, #0x12345000"),
    (275, "adrp x7, #0", -0x8000_0000, "adrp x7, #-0x80000000"),
    (311, "adrp x16, #0", 0xFFFC, "adrp x16, #0x10000"),
    (274, "adr x3, #0", -0x4321, "adr x3, #-0x4321"),
    (277, "add x3, x4, #0", 0xABC - 4, "add x3, x4, #0xabc"),
    (278, "ldrb w1, [x2]", 0x123 - 4, "ldrb w1, [x2, #0x123]"),
    (284, "strh w1, [x2]", 0x122 - 4, "strh w1, [x2, #0x122]"),
    (285, "ldr s1, [x2]", 0x7FC - 4, "ldr s1, [x2, #0x7fc]"),
    (286, "ldr d1, [x2]", 0xFF8 - 4, "ldr d1, [x2, #0xff8]"),
    (299, "ldr q1, [x2]", 0xFF0 - 4, "ldr q1, [x2, #0xff0]"),
    (312, "ldr x1, [x2]", 0x0F8 - 4, "ldr x1, [x2, #0xf8]"),
    (283, "bl #0", 0x7FF_FFFC, "bl #0x7fffffc"),
    (282, "b #0", -0x800_0000, "b #-0x8000000"),
    (280, "b.ne #0", -0x10_0000, "b.ne #-0x100000"),
    (280, "cbz x9, #0", 0x400, "cbz x9, #0x400"),
    (279, "tbz w9, #3, #0", 0x7FFC, "tbz w9, #3, #0x7ffc"),
    (273, "ldr x5, #0", 0xF_FFFC, "ldr x5, #0xffffc"),
]
"""The low bits of `AT` are 0x004: the fields of 12 bits hold them as well."""


@pytest.mark.parametrize("kind, empty, distance, filled", ENCODINGS)
def test_fields_of_instructions(compiled, kind, empty, distance, filled):
    """As the assembler encodes them; what the field held before does not matter."""
    expected = word_of(compiled, filled)
    assert relocated(word_of(compiled, empty), kind, AT, AT + distance) == expected
    if kind in (311, 312):  # of the table of addresses
        with pytest.raises(CompileError):
            relocated(expected, kind, AT, AT + distance - 64, 64)
    else:
        assert relocated(expected, kind, AT, AT + distance - 64, 64) == expected


@pytest.mark.parametrize("kind, part", [(263, 0), (264, 0), (265, 1), (266, 1), (267, 2), (268, 2)])
def test_wide_moves(compiled, kind, part):
    value = 0x1234_5678_9ABC
    chunk = value >> 16 * part & 0xFFFF
    empty, filled = (word_of(compiled, f"movk x2, #{n}, lsl #{16 * part}") for n in (0, chunk))
    if kind in (263, 265):  # these say that nothing is above
        with pytest.raises(CompileError, match="loaded"):
            relocated(empty, kind, AT, value)
        value &= (1 << 16 * (part + 1)) - 1
    assert relocated(empty, kind, AT, value) == filled


OUT_OF_REACH = [
    (275, 1 << 32), (275, -(1 << 32) - 0x2000), (311, 1 << 32), (274, 1 << 20), (283, 1 << 27),
    (282, -(1 << 27) - 4), (280, 1 << 20), (279, 1 << 15), (261, 1 << 31), (258, -(1 << 60)),
]  # fmt: skip


@pytest.mark.parametrize("kind, distance", OUT_OF_REACH)
def test_relocations_out_of_range_are_refused(kind, distance):
    with pytest.raises((CompileError, struct.error)):
        relocated(0x9000_0000, kind, AT, AT + distance)


@pytest.mark.parametrize(
    "kind, target", [(284, 0x1001), (285, 0x1002), (286, 0x1004), (299, 0x1008), (283, AT + 2)]
)
def test_misaligned_targets_are_refused(kind, target):
    with pytest.raises(CompileError, match="loaded") as caught:
        relocated(0, kind, AT, target)
    assert "multiple" in caught.value.because


@pytest.mark.parametrize("kind", [0, 1, 256, 259, 512, 544, 1 << 31])
def test_other_kinds_are_refused(kind):
    with pytest.raises(CompileError) as caught:
        relocated(0, kind, AT, AT)
    assert str(kind) in caught.value.because


def test_parts_of_a_translation_unit_keep_their_machine(compiled):
    whole = compiled("void f_a(float* x) { *x = 1.5f; }\nvoid f_b(float* x) { *x = 3.25f; }\n")
    for part in separated(whole, ("_a", "_b")):
        image, memory = linked(part)
        assert image.architecture is ARCHITECTURE and image.offset("f") < len(memory)


def test_damage_is_refused_or_harmless(binary, damaged_copies_of):
    refused = 0
    for damaged in damaged_copies_of(binary, 23):
        try:
            linked(damaged, library=dict.fromkeys(LIBRARY, 4096))
        except (CompileError, KeyError):
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("length", [0, 1, 15, 16, 63, 64, 65, 200, 500])
def test_cut_short(binary, length):
    with pytest.raises(CompileError):
        LinkedImage(binary[:length])


def test_damaged_relocations(binary):
    """Every kind, symbol and addend may be wrong."""
    rng, file = random.Random(3), LinkedImage(binary)._file
    tables = [section for section in file.sections if section.kind == 4]
    assert tables
    for _ in range(300):
        damaged = bytearray(binary)
        table = rng.choice(tables)
        row = table.offset + 24 * rng.randrange(table.size // 24)
        place = rng.choice((0, 8, 12, 16))
        damaged[row + place : row + place + 4] = rng.randbytes(4)
        try:
            linked(bytes(damaged))
        except CompileError:
            continue
