// What the executor (executor.cpp) and the kernels that it runs (metal_stdlib) both know.
#pragma once

namespace executor {
struct Position {
  unsigned x, y, z;
};
enum Wait { AT_BARRIER = 1, IN_SIMDGROUP = 2 };

// Who runs, and whom it tells. Written before a thread is entered or resumed.
struct Here {
  Position item, group;
  unsigned place;         // of the thread within its group
  unsigned threads;       // of a group
  unsigned long serial;   // of the group, over all launches: never 0
  unsigned char* shown;   // 64 bytes for every thread of a group, by which a simdgroup exchanges
  void (*wait)(int kind, int line);
  void (*wrong)(const char* what, long number, long limit);
};

// One entry of the argument table.
struct Argument {
  unsigned char* at;
  unsigned long bytes;
};
constexpr unsigned SIMD = 32;
constexpr unsigned SHOWN = 64;
}  // namespace executor
