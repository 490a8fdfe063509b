"""C of the measurement of this machine: loops that one resource bounds.
Also: microbenchmarks.

Each function repeats one pattern: dependent additions (the clock), multiply-adds that depend on
each other (latency) or do not (throughput), loads, stores, and loads whose address is the result
of the one before (latency of a cache or of memory).

Source: McVoy & Staelin, "lmbench: portable tools for performance analysis" (USENIX 1996); McCalpin,
"Memory bandwidth and machine balance in current high performance computers" (IEEE TCCA 1995,
STREAM).
"""

from __future__ import annotations

ACCUMULATORS = 12
"""Multiply-adds that do not wait for each other: more than latency times throughput of most
processors, and few enough for 16 registers."""
UNROLLED = 8
"""Instructions of one iteration of the other loops."""
LINE = 64
"""Bytes between two loads that depend on each other."""

_SOURCE = """
#if defined(__AVX512F__)
#define REGISTER "+v"
#define VALUE "v"
#elif defined(__x86_64__)
#define REGISTER "+x"
#define VALUE "x"
#else
#define REGISTER "+w"
#define VALUE "w"
#endif
typedef long long i64;
typedef float f32v __attribute__((vector_size(BYTES)));
typedef double f64v __attribute__((vector_size(BYTES)));
#define KEEP(x) __asm__ volatile("" : REGISTER(x))
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define STEP_CLOCK(i) x += 1; __asm__ volatile("" : "+r"(x));
i64 weft_clock(i64 n) {
  i64 x = n;
  for (i64 r = 0; r < n; r++) { EIGHT(STEP_CLOCK) }
  return x;
}
#define START(i) v a##i = s;
#define STEP(i) a##i = __builtin_elementwise_fma(a##i, f, s); KEEP(a##i);
#define CHAIN(i) a = __builtin_elementwise_fma(a, f, s); KEEP(a);
#define MULTIPLY_ADD(name, type, scalar) \\
  void weft_throughput_##name(i64 n) { \\
    typedef type v; v f = (v){} + (scalar)0.5, s = (v){} + (scalar)1; KEEP(f); KEEP(s); \\
    ALL(START) \\
    for (i64 r = 0; r < n; r++) { ALL(STEP) } \\
  } \\
  void weft_latency_##name(i64 n) { \\
    typedef type v; v f = (v){} + (scalar)0.5, s = (v){} + (scalar)1, a = s; KEEP(f); KEEP(s); \\
    for (i64 r = 0; r < n; r++) { EIGHT(CHAIN) } \\
  }
MULTIPLY_ADD(float32, f32v, float)
MULTIPLY_ADD(float64, f64v, double)
#define LOAD(i) { f32v x = *(const volatile f32v*)(p + i); __asm__ volatile("" :: VALUE(x)); }
#define STORE(i) *(volatile f32v*)(p + i) = x;
void weft_load(char* memory, i64 nbytes, i64 n) {
  for (i64 r = 0; r < n; r++)
    for (f32v* p = (f32v*)memory; (char*)p < memory + nbytes; p += 8) { EIGHT(LOAD) }
}
void weft_store(char* memory, i64 nbytes, i64 n) {
  f32v x = (f32v){};
  for (i64 r = 0; r < n; r++)
    for (f32v* p = (f32v*)memory; (char*)p < memory + nbytes; p += 8) { EIGHT(STORE) }
}
void weft_link(char* memory, i64 nbytes) {
  i64 lines = nbytes / LINE, *order = (i64*)memory;
  unsigned long long state = 88172645463325252ull;
  for (i64 i = 0; i < lines; i++) order[i * (LINE / 8)] = i;
  for (i64 i = lines - 1; i > 0; i--) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    i64 j = (i64)(state % (unsigned long long)i);
    i64 other = order[j * (LINE / 8)];
    order[j * (LINE / 8)] = order[i * (LINE / 8)];
    order[i * (LINE / 8)] = other;
  }
}
#define FOLLOW(i) at = *(const volatile i64*)(memory + at * LINE);
i64 weft_follow(char* memory, i64 n, i64 at) {
  for (i64 r = 0; r < n; r++) { EIGHT(FOLLOW) }
  return at;
}
"""


def source(vector_bytes: int) -> str:
    """The functions, for registers of so many bytes."""
    return f"#define BYTES {vector_bytes}\n#define LINE {LINE}\n{_SOURCE}"
