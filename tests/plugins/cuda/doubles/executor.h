// Runs a grid of threads on one processor: a loop where a kernel has no barriers, otherwise one
// fiber per thread, each of which runs up to the next barrier in turn. Whose turn it is changes from
// barrier to barrier, so that a kernel which lacks one shows it; SIMT_ORDER, a number, changes how.
#pragma once
#include <setjmp.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Index {
  unsigned x, y, z;
};

// As simt_place in cuda_on_cpu.h.
struct Place {
  Index thread, block, block_size, grid_size;
  void (*barrier)(int line);
  const char *stack, *stack_end;
  size_t shared;
  bool (*reachable)(unsigned long long at, size_t size);
  void (*wrong)(const char* at, size_t size, const char* near);
};

extern "C" void fiber_switch(void** save, void* resume);
// What the calling convention wants kept is pushed; the rest is the caller's business.
asm(R"(
.text
.type fiber_switch,@function
fiber_switch:
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

class Executor {
 public:
  struct Wrong {
    std::string what;  // empty if all went well
    bool address = false;
  };
  Wrong run(Place* place, void (*enter)(void**), void** given, bool barriers, Index grid,
            Index block, size_t shared, void (*fresh)(),
            bool (*reachable)(unsigned long long, size_t)) {
    place_ = place;
    enter_ = enter;
    given_ = given;
    wrong_ = {};
    active_ = this;
    place->grid_size = grid;
    place->block_size = block;
    place->barrier = at_barrier;
    place->shared = shared;
    place->reachable = reachable;
    place->wrong = on_wrong;
    unsigned threads = block.x * block.y * block.z;
    for (unsigned z = 0; z < grid.z; z++)
      for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
          place->block = {x, y, z};
          fresh();
          std::string what = barriers ? run_block(threads) : run_in_turn(threads);
          if (wrong_.what.empty()) wrong_.what = what;
          if (!wrong_.what.empty()) return wrong_;
        }
    return {};
  }

 private:
  static constexpr size_t STACK = 256 << 10;
  struct Fiber {
    char* stack = nullptr;
    void* top = nullptr;
    int line = 0;
    bool done = false;
  };
  std::vector<Fiber> fibers_;
  Fiber* current_ = nullptr;
  void* home_ = nullptr;
  Place* place_ = nullptr;
  void (*enter_)(void**) = nullptr;
  void** given_ = nullptr;
  unsigned order_ = getenv("SIMT_ORDER") ? atoi(getenv("SIMT_ORDER")) : 1;
  Wrong wrong_;
  jmp_buf leave_;
  static Executor* active_;

  unsigned next(unsigned below) {
    order_ = order_ * 1664525 + 1013904223;
    return (order_ >> 8) % below;
  }

  // A step that meets every thread once.
  unsigned coprime(unsigned threads) {
    for (;;) {
      unsigned a = 1 + next(threads), x = a, y = threads;
      while (y) {
        unsigned left = x % y;
        x = y, y = left;
      }
      if (x == 1) return a;
    }
  }

  Index thread_of(unsigned i) const {
    Index size = place_->block_size;
    return {i % size.x, i / size.x % size.y, i / size.x / size.y};
  }

  static void at_barrier(int line) {
    Executor* self = active_;
    self->current_->line = line;
    fiber_switch(&self->current_->top, self->home_);
  }

  // Called from within a kernel, which does not go on after that.
  static void on_wrong(const char* at, size_t size, const char* near) {
    Executor* self = active_;
    Index t = self->place_->thread, b = self->place_->block;
    char text[256];
    snprintf(text, sizeof text, "thread (%u, %u, %u) of block (%u, %u, %u) touches %zu bytes %s%s",
             t.x, t.y, t.z, b.x, b.y, b.z, size,
             near ? "beyond the shared array " : "that nobody gave it", near ? near : "");
    self->wrong_ = {text, true};
    if (!self->current_) longjmp(self->leave_, 1);
    self->current_->done = true;
    fiber_switch(&self->current_->top, self->home_);
  }

  // A kernel without barriers: a loop.
  std::string run_in_turn(unsigned threads) {
    const char* here = (const char*)__builtin_frame_address(0);
    place_->stack = here - (1 << 20);
    place_->stack_end = here;
    current_ = nullptr;
    if (setjmp(leave_)) return wrong_.what;
    for (unsigned i = 0; i < threads; i++) {
      place_->thread = thread_of(i);
      enter_(given_);
    }
    return "";
  }

  static void begin() {
    Executor* self = active_;
    self->enter_(self->given_);
    self->current_->done = true;
    fiber_switch(&self->current_->top, self->home_);
    abort();  // nobody resumes a thread that is done
  }

  void prepare(Fiber& fiber) {
    if (!fiber.stack)
      fiber.stack = (char*)mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void** top = (void**)(fiber.stack + STACK - 64);
    *--top = nullptr;           // where `begin` would return to; keeps its stack aligned as a call
    *--top = (void*)begin;      // where the first switch returns to
    for (int i = 0; i < 6; i++) *--top = nullptr;
    fiber.top = top;
    fiber.done = false;
  }

  std::string run_block(unsigned threads) {
    if (fibers_.size() < threads) fibers_.resize(threads);
    for (unsigned i = 0; i < threads; i++) prepare(fibers_[i]);
    for (;;) {
      unsigned waiting = 0, done = 0;
      int line = 0;
      unsigned first = next(threads), step = coprime(threads);
      for (unsigned turn = 0; turn < threads; turn++) {
        unsigned i = (first + turn * step) % threads;
        current_ = &fibers_[i];
        place_->thread = thread_of(i);
        place_->stack = current_->stack;
        place_->stack_end = current_->stack + STACK;
        fiber_switch(&home_, current_->top);
        if (!wrong_.what.empty()) return wrong_.what;
        if (current_->done) {
          done++;
          continue;
        }
        if (waiting++ && current_->line != line) return "threads wait at different barriers";
        line = current_->line;
      }
      if (done == threads) return "";
      if (done) return "some threads end while others wait at a barrier";
    }
  }
};
inline Executor* Executor::active_ = nullptr;
