"""Warpgroup products as source: the function that multiplies tiles by the matrix units of Hopper.
Also: swizzle, wgmma.

Two warpgroups share a block of 128 rows. Tiles of both operands are copied to shared memory ahead
of their use by ``cp.async``, with the swizzle of 128 bytes that ``wgmma`` reads: the number of a
piece of 16 bytes in its row of 128 is combined with the number of the row by exclusive or.

A barrier in each iteration makes a tile visible. The buffer that is filled after it was read two
iterations ago, and the wait for all but the newest group of products has ended for every warp
before the barrier. So there are two buffers more than tiles on their way.

Source: NVIDIA, "PTX ISA", asynchronous warpgroup level matrix instructions (wgmma), section
"Matrix descriptor"; "CUDA C++ Programming Guide", asynchronous copies.
"""

from __future__ import annotations

ROWS = 128
"""Rows of a block: 64 of each warpgroup."""
TERMS = 64
"""Terms of a tile: 128 bytes of 16-bit numbers, the longest row with a swizzle."""
THREADS = 256
COLUMNS = (256, 128, 64)
"""Columns of a block: a thread holds one sum for each two."""
START = 48
"""The time in which the first tiles arrive and sums are stored, as columns of a block. A guess,
which lets small products use all processors; not measured by itself."""
MOST = 4
"""Buffers of a tile: two more than tiles on their way. Four fit beside blocks of 256 columns. On
one H200 three buffers reached 529 TFLOP/s at 8192, and four 734; more were not measured."""
NAME = "warpgroup_product"
ALIGNMENT = 1024
"""Bytes: the pattern of the swizzle repeats after eight rows."""
_TILES = """\
template <int ROWS, bool ALONG_TERMS, bool WHOLE, class T>
__device__ inline void load_tile(unsigned to, const T* from, int stride, int rows, int terms) {
  #pragma unroll
  for (int i = 0; i < ROWS * 8 / 256; i++) {
    int piece = threadIdx.x + i * 256, row = piece >> 3, at = piece & 7;
    if (ALONG_TERMS) {
      bool there = WHOLE || row < rows && at * 8 < terms;
      copy_piece(to + row * 128 + ((at ^ (row & 7)) << 4),
          from + (there ? row * stride + at * 8 : 0), there);
    } else {
      int term = row & 63, block = row >> 6;
      bool there = WHOLE || term < terms && block * 64 + at * 8 < rows;
      copy_piece(to + block * 8192 + term * 128 + ((at ^ (term & 7)) << 4),
          from + (there ? term * stride + block * 64 + at * 8 : 0), there);
    }
  }
}
__device__ inline unsigned long long tile_descriptor(unsigned at) {
  // Blocks of 64 columns are 8192 bytes apart, groups of eight rows 1024; a swizzle of 128 bytes.
  return (unsigned long long)((at & 0x3ffff) >> 4) | 512ull << 16 | 64ull << 32 | 1ull << 62;
}"""

_PIECE = """\
template <class T> __device__ inline void copy_piece(unsigned to, const T* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
      :: "r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");  // the rest becomes zeros
}"""

_PRODUCT = """\
template <int COLUMNS, int BUFFERS, bool A_ALONG_TERMS, bool B_ALONG_TERMS, bool WHOLE, class T>
__device__ inline float warpgroup_product(float (&sums)[COLUMNS / 2], unsigned char* memory,
    const T* a, int a_stride, int rows, const T* b, int b_stride, int columns, int terms) {
  const int tiles = (terms + 63) / 64;
  constexpr int AHEAD = BUFFERS - 2, A_BYTES = 128 * 128, BYTES = A_BYTES + COLUMNS * 128;
  unsigned base;
  asm("{.reg .u64 s; cvta.to.shared.u64 s, %1; cvt.u32.u64 %0, s;}" : "=r"(base) : "l"(memory));
  base = base + 1023 & ~1023u;
  auto load = [&](int tile) {
    if (tile < tiles) {
      unsigned to = base + tile % BUFFERS * BYTES;
      int first = tile * 64;
      load_tile<128, A_ALONG_TERMS, WHOLE>(
          to, a + (A_ALONG_TERMS ? first : first * a_stride), a_stride, rows, terms - first);
      load_tile<COLUMNS, B_ALONG_TERMS, WHOLE>(to + A_BYTES,
          b + (B_ALONG_TERMS ? first : first * b_stride), b_stride, columns, terms - first);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  #pragma unroll
  for (int i = 0; i < COLUMNS / 2; i++) sums[i] = 0.0f;
  for (int tile = 0; tile < AHEAD; tile++) load(tile);
  for (int tile = 0; tile < tiles; tile++) {
    asm volatile("cp.async.wait_group %0;" :: "n"(AHEAD - 1) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    load(tile + AHEAD);
    unsigned at = base + tile % BUFFERS * BYTES;
    unsigned x = at + threadIdx.x / 128 * 8192, y = at + A_BYTES;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int step = 0; step < 4; step++) {
      multiply_add<!A_ALONG_TERMS, !B_ALONG_TERMS, T>(sums,
          tile_descriptor(x + step * (A_ALONG_TERMS ? 32 : 2048)),
          tile_descriptor(y + step * (B_ALONG_TERMS ? 32 : 2048)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  return sums[0];
}"""

_MULTIPLY = """\
template <bool A_TRANSPOSED, bool B_TRANSPOSED, class T>
__device__ inline void multiply_add(float (&c)[{count}], unsigned long long a,
    unsigned long long b) {{
  asm volatile("{{.reg .pred p; setp.ne.b32 p, 1, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} {{{places}}}, "
      "%{a}, %{b}, p, 1, 1, %{a_transposed}, %{b_transposed};}}"
      : {sums}
      : "l"(a), "l"(b), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
}}"""


def definitions(columns: int, kind: str) -> tuple[str, ...]:
    """The functions before a kernel. kind: the name of the dtype of the operands."""
    count = columns // 2
    multiply = _MULTIPLY.format(
        count=count, columns=columns, kind=kind,
        places=", ".join(f"%{number}" for number in range(count)),
        sums=", ".join(f'"+f"(c[{number}])' for number in range(count)),
        a=count, b=count + 1, a_transposed=count + 2, b_transposed=count + 3,
    )  # fmt: skip
    return _PIECE, _TILES, multiply, _PRODUCT


def shared_bytes(columns: int, buffers: int) -> int:
    """Bytes of shared memory of a block."""
    return buffers * (ROWS + columns) * 2 * TERMS + ALIGNMENT


def buffers(columns: int, shared: int) -> int:
    """The tiles of both operands that so many bytes of shared memory hold, at most `MOST`."""
    return min(MOST, (shared - ALIGNMENT) // (shared_bytes(columns, 1) - ALIGNMENT))


def cost(blocks: int, columns: int, processors: int) -> int:
    """The time of a product in blocks, as far as it decides between their columns: rounds of all
    processors, each as long as its columns and what a block takes besides."""
    return -(-blocks // processors) * (columns + START)
