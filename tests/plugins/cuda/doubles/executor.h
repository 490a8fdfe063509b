// Runs a grid of threads on one processor: a loop where a kernel has no barriers, otherwise one
// fiber per thread, each of which runs up to the next barrier in turn.
#pragma once
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
  // Empty if all went well, otherwise what did not.
  std::string run(Place* place, void (*enter)(void**), void** given, bool barriers, Index grid,
                  Index block) {
    place_ = place;
    enter_ = enter;
    given_ = given;
    place->grid_size = grid;
    place->block_size = block;
    place->barrier = at_barrier;
    unsigned threads = block.x * block.y * block.z;
    for (unsigned z = 0; z < grid.z; z++)
      for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
          place->block = {x, y, z};
          if (!barriers) {
            for (unsigned i = 0; i < threads; i++) {
              place->thread = thread_of(i);
              enter(given);
            }
            continue;
          }
          std::string wrong = run_block(threads);
          if (!wrong.empty()) return wrong;
        }
    return "";
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
  static Executor* active_;

  Index thread_of(unsigned i) const {
    Index size = place_->block_size;
    return {i % size.x, i / size.x % size.y, i / size.x / size.y};
  }

  static void at_barrier(int line) {
    Executor* self = active_;
    self->current_->line = line;
    fiber_switch(&self->current_->top, self->home_);
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
    active_ = this;
    if (fibers_.size() < threads) fibers_.resize(threads);
    for (unsigned i = 0; i < threads; i++) prepare(fibers_[i]);
    for (;;) {
      unsigned waiting = 0, done = 0;
      int line = 0;
      for (unsigned i = 0; i < threads; i++) {
        current_ = &fibers_[i];
        place_->thread = thread_of(i);
        fiber_switch(&home_, current_->top);
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
