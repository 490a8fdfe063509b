// Runs a launch grid on one processor: a loop where a kernel's threads never wait, otherwise one
// fiber for each thread of a group.
//
// A simdgroup runs until all its threads wait at one barrier; then the next one does. Every other
// turn they are taken from the last to the first, so that a kernel which lacks a barrier reads what
// is not there yet. What goes wrong is told once, by the first thread that it happens to.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "executor.h"

using namespace executor;

#if defined(__x86_64__)
extern "C" void weft_fiber_switch(void** save, void* resume);
// What the calling convention wants kept is pushed; the rest is the caller's business.
asm(R"(
.text
.globl weft_fiber_switch
weft_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
struct Context {
  void* top = nullptr;
};
static void change(Context& from, Context& to) { weft_fiber_switch(&from.top, to.top); }
static void prepare(Context& context, char* stack, size_t size, void (*begin)()) {
  void** top = (void**)(stack + size - 64);
  *--top = nullptr;  // where `begin` would return to; keeps its stack aligned as a call does
  *--top = (void*)begin;
  for (int i = 0; i < 6; i++) *--top = nullptr;
  context.top = top;
}
#else
#include <ucontext.h>
struct Context {
  ucontext_t state;
};
static void change(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
static void prepare(Context& context, char* stack, size_t size, void (*begin)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = size;
  context.state.uc_link = nullptr;
  makecontext(&context.state, begin, 0);
}
#endif

namespace {
constexpr unsigned MOST = 1024;
constexpr size_t STACK = 64 << 10;
enum State { READY, BARRIER, SIMDGROUP, DONE };

struct Fiber {
  Context context;
  char* stack = nullptr;
  State state = DONE;
  int line = 0;
};

unsigned char shown[MOST * SHOWN];
Fiber fibers[MOST];
Context home;
Here* here;
unsigned running;
void (*enter)(Argument*);
Argument* given;
char message[200];

void wrong(const char* what, long number, long limit) {
  if (!message[0]) snprintf(message, sizeof message, what, number, limit);
}

void wait(int kind, int line) {
  Fiber& mine = fibers[running];
  mine.state = kind == AT_BARRIER ? BARRIER : SIMDGROUP;
  mine.line = line;
  change(mine.context, home);
}

void begin() {
  enter(given);
  Fiber& mine = fibers[running];
  mine.state = DONE;
  change(mine.context, home);
  abort();  // nobody resumes a thread that is done
}

void place(unsigned number, Position size) {
  running = number;
  here->place = number;
  here->item = {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

// Until all threads of a simdgroup wait at a barrier, or are done.
void run_simdgroup(unsigned first, unsigned count, Position size, bool backwards) {
  for (;;) {
    for (unsigned i = 0; i < count; i++) {
      unsigned number = first + (backwards ? count - 1 - i : i);
      if (fibers[number].state == DONE) continue;
      place(number, size);
      fibers[number].state = READY;
      change(home, fibers[number].context);
    }
    Fiber& one = fibers[first];
    for (unsigned i = 1; i < count; i++) {
      Fiber& other = fibers[first + i];
      if (other.state == one.state && (one.state == DONE || other.line == one.line)) continue;
      bool ended = one.state == DONE || other.state == DONE;
      wrong(ended ? "some threads of a simdgroup end while others wait (thread %ld)"
                  : "threads of one simdgroup wait in different places (thread %ld)",
            first + i, 0);
      return;
    }
    if (one.state != SIMDGROUP) return;
  }
}

void run_group(Position size) {
  unsigned threads = size.x * size.y * size.z;
  for (unsigned i = 0; i < threads; i++) {
    Fiber& fiber = fibers[i];
    if (!fiber.stack)
      fiber.stack = (char*)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    prepare(fiber.context, fiber.stack, STACK, begin);
    fiber.state = READY;
  }
  for (bool backwards = false;; backwards = !backwards) {
    unsigned simdgroups = (threads + SIMD - 1) / SIMD;
    for (unsigned i = 0; i < simdgroups; i++) {
      unsigned first = (backwards ? simdgroups - 1 - i : i) * SIMD;
      unsigned count = threads - first < SIMD ? threads - first : SIMD;
      run_simdgroup(first, count, size, backwards);
      if (message[0]) return;
    }
    Fiber& one = fibers[0];
    for (unsigned i = 1; i < threads; i++) {
      if (fibers[i].state != one.state)
        return wrong("some threads end while others wait at a barrier (thread %ld)", i, 0);
      if (one.state != DONE && fibers[i].line != one.line)
        return wrong("threads wait at different barriers (thread %ld)", i, 0);
    }
    if (one.state == DONE) return;
  }
}
}  // namespace

extern "C" const char* executor_run(Here* of_kernel, void (*kernel)(Argument*), Argument* arguments,
                                    int waits, const unsigned* groups, const unsigned* sizes) {
  static unsigned long serial;
  Position size = {sizes[0], sizes[1], sizes[2]};
  here = of_kernel, enter = kernel, given = arguments, message[0] = 0;
  here->threads = size.x * size.y * size.z;
  here->shown = shown, here->wait = wait, here->wrong = wrong;
  for (unsigned z = 0; z < groups[2]; z++)
    for (unsigned y = 0; y < groups[1]; y++)
      for (unsigned x = 0; x < groups[0]; x++) {
        here->group = {x, y, z};
        here->serial = ++serial;
        if (waits)
          run_group(size);
        else
          for (unsigned i = 0; i < here->threads; i++) {
            place(i, size);
            kernel(arguments);
          }
        if (message[0]) return message;
      }
  return message;
}
