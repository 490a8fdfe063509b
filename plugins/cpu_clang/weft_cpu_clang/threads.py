"""Thread pool: the threads of this process that share the iterations of one kernel.
Also: fork-join parallelism, work sharing.

A kernel that can be divided (see `CDialect.parts`) is called with the number of a part and the
number of parts. The launching thread takes parts like every worker: first its own share, then those
of other threads, until none is left. A worker that wakes up late finds no part and costs nothing.
The results depend neither on the thread of a part nor on the number of parts.

The pool serves one launch at a time. A launch from a second thread of Python, or from inside a
kernel, runs in its own thread alone. After a fork the child makes its own pool when it needs one.
At the end of the interpreter the workers are joined.

`WEFT_CPU_THREADS` is the number of threads that compute, the launching one included. Its default is
the number of processors that the process may use.

Source: OpenMP API specification, parallel construct and work sharing; R. Blumofe, C. Leiserson,
"Scheduling multithreaded computations by work stealing" (FOCS 1994).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from functools import cache

from weft.plugin import ArgumentError, DiskCache
from weft_cpu_clang import cpu_quota
from weft_cpu_clang.binary import load
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.toolchain import Toolchain

VARIABLE = "WEFT_CPU_THREADS"
MOST = 256
STACK = 16 << 20
"""Bytes of a worker's stack: kernels keep packed operands there. Only what is touched is used."""

TURNS = 100
"""Looks at a word before a thread sleeps on it: a few microseconds."""
ATTENTIVE = 20_000
"""The same of a worker while launches in a row are under way, and at most for as long as it worked
before: the better part of a millisecond."""
PATIENT = 2_000
"""The same of the launching thread, while others finish the last parts."""
_FUTEX = {"x86_64": 202, "aarch64": 98}
"""The number of the system call, on Linux."""

_cache = DiskCache("cpu_threads", 1)


def available() -> int:
    """How many threads this process can run at once: its processors, its share of their time."""
    return min(cpu_quota.available(), MOST)


def wanted() -> int:
    """What `WEFT_CPU_THREADS` says. :raises ArgumentError: where it is no number of threads."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return available()
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST:
        raise ArgumentError(
            f"{VARIABLE} must be a number of threads",
            asked=f"{VARIABLE}={text!r}",
            because=f"from 1 to {MOST} threads can share a kernel",
            try_=f"{VARIABLE}={available()}, what this process can use",
        )
    return int(text)


_CODE = """\
typedef long long word;
typedef unsigned int u32;
typedef void kernel(const word*, word, word);
extern int pthread_create(void*, const void*, void* (*)(void*), void*);
extern int pthread_join(void*, void**);
extern int pthread_attr_init(void*);
extern int pthread_attr_destroy(void*);
extern int pthread_attr_setstacksize(void*, unsigned long);
extern int pthread_sigmask(int, const void*, void*);
extern int sched_yield(void);
extern long syscall(long, ...);

#define MOST %(most)d
#define OPEN 0x80000000u   /* parts are to be had: workers may join */
#define ASLEEP 0x40000000u /* the launching thread sleeps until the last worker has left */

/* What threads wait for stands in cache lines of its own. */
static _Alignas(64) _Atomic u32 epoch;   /* one more for every launch */
static _Atomic u32 attending;            /* how many rows of launches are under way */
static _Alignas(64) _Atomic u32 members; /* flags, and how many workers are at it */
static _Alignas(64) _Atomic u32 sleepers;
static _Atomic u32 busy, stop, workers; /* the last: how many there shall be */
static u32 made;                        /* how many there are; of whoever has `busy`, like these */
static kernel* job;
static const word* arguments;
static word parts;
static void* threads[MOST];

/* Parts that follow one another, for one thread to begin with; the others help when theirs are
   done. So a thread works beside what it wrote, mostly on what it wrote in the kernel before. */
typedef struct {
  _Alignas(64) _Atomic word next; /* the first part that nobody has taken */
  word end;
} lane;
static lane lanes[MOST];
static word lane_count;

static void await(_Atomic u32* place, u32 value) { syscall(%(futex)d, place, 128, value, 0L); }
static void wake(_Atomic u32* place, int most) { syscall(%(futex)d, place, 129, most); }

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Time that passes evenly, of whatever unit. */
static inline word ticks(void) {
#if defined(__x86_64__)
  return (word)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  word now;
  __asm__ volatile("mrs %%0, cntvct_el0" : "=r"(now));
  return now;
#endif
}

static void lay_out(word all) {
  parts = all;
  lane_count = all < (word)workers + 1 ? all : (word)workers + 1;
  for (word i = 0; i < lane_count; i++) {
    lanes[i].next = all * i / lane_count;
    lanes[i].end = all * (i + 1) / lane_count;
  }
}

static void take_parts(word self) {
  kernel* f = job;
  const word *a = arguments, all = parts;
  for (word i = 0; i < lane_count; i++) {
    lane* l = &lanes[(self + i) %% lane_count];
    for (word part; l->next < l->end && (part = l->next++) < l->end;) f(a, part, all);
  }
}

static int is_left(void) {
  for (word i = 0; i < lane_count; i++)
    if (lanes[i].next < lanes[i].end) return 1;
  return 0;
}

static int join(void) {
  u32 now = members;
  while (now & OPEN)
    if (__c11_atomic_compare_exchange_weak(&members, &now, now + 1, 5, 5)) return 1;
  return 0;
}

static void* work(void* self) {
  for (;;) {
    u32 seen = epoch;
    word began = ticks(), worked = 0;
    if (join()) {
      /* whoever wakes up wakes others: the launching thread has better things to do */
      if (sleepers && is_left()) wake(&epoch, 2);
      take_parts((word)self);
      worked = ticks() - began;
      if (--members == ASLEEP) wake(&members, 1);
    }
    if (stop) return 0;
    /* The next kernel often follows at once, and to be woken takes long beside one that does not:
       so a worker stays awake for a few microseconds, for as long as it has just worked (it wastes
       no more than it was of use), and within a row of launches. */
    word until = ticks() + worked;
    for (int turn = 0; epoch == seen; turn++) {
      if (turn >= %(turns)d && !attending && ticks() >= until) break;
      if (turn >= %(attentive)d) break;
      relax();
    }
    if (epoch == seen) {
      sleepers++;
      await(&epoch, seen);
      sleepers--;
    }
  }
}

static void make(void) {
  word attributes[32], old[32], all[32];
  for (int i = 0; i < 32; i++) all[i] = -1;
  if (pthread_attr_init(attributes)) {
    workers = 0;
    return;
  }
  pthread_attr_setstacksize(attributes, %(stack)d);
  pthread_sigmask(2, all, old); /* signals are for the threads that Python knows */
  while (made < workers) {
    if (pthread_create(&threads[made], attributes, work, (void*)(word)(made + 1))) break;
    made++;
  }
  pthread_sigmask(2, old, 0);
  pthread_attr_destroy(attributes);
  workers = made;
}

/* Run all parts of a kernel; they are done when this returns. */
void weft_spread(kernel* f, const word* a, word count) {
  u32 no = 0;
  if (count < 2 || !workers || stop ||
      !__c11_atomic_compare_exchange_strong(&busy, &no, 1, 5, 5)) {
    f(a, 0, 1);
    return;
  }
  if (made < workers) make();
  job = f, arguments = a;
  lay_out(count);
  members = OPEN;
  epoch++;
  if (sleepers) wake(&epoch, count > 2 ? 2 : 1);
  take_parts(0);
  u32 left = __c11_atomic_fetch_and(&members, ~OPEN, 5) & ~OPEN;
  for (int turn = 0; left && turn < %(patient)d; turn++, left = members) relax();
  if (left) {
    left = __c11_atomic_fetch_or(&members, ASLEEP, 5) | ASLEEP;
    for (; left != ASLEEP; left = members) await(&members, left);
  }
  members = 0;
  busy = 0;
}

/* A row of launches begins that have at most so many parts: as many workers as that had better be
   awake. With 0 it ends. */
void weft_attend(word most) {
  if (!most) {
    attending--;
    return;
  }
  attending++;
  if (sleepers && !stop) {
    epoch++;
    wake(&epoch, (int)most - 1);
  }
}

/* How many threads besides the launching one; there are none yet, or this is a child of fork. */
void weft_threads(word count) {
  made = 0, workers = (u32)count;
  epoch = attending = members = sleepers = busy = stop = 0;
}

/* Have them finish what they do, and end. Launches after this use no other thread. */
void weft_stop(void) {
  u32 no = 0;
  stop = 1;
  while (!__c11_atomic_compare_exchange_strong(&busy, &no, 1, 5, 5)) {
    no = 0;
    sched_yield();
  }
  epoch++;
  wake(&epoch, MOST);
  for (u32 i = 0; i < made; i++) pthread_join(threads[i], 0);
  made = workers = 0;
  busy = 0;
}
"""


def source() -> str:
    """The C of the pool for this system."""
    futex = _FUTEX[os.uname().machine]
    turns = {"turns": TURNS, "attentive": ATTENTIVE, "patient": PATIENT}
    return _CODE % {"most": MOST, "stack": STACK, "futex": futex, **turns}


class ThreadPool:
    """The pool of this process. Threads are made by the first launch that has parts for them.

    :param count: how many threads compute, the launching one included.
    :ivar count: likewise.
    :ivar address: of the function that runs the parts of a kernel: its address, its arguments as
        words, how many parts.
    :ivar attend: address of what says that launches of so many parts follow, or (0) have ended.
    """

    def __init__(self, toolchain: Toolchain, count: int) -> None:
        self.count = count
        compiler, text = ClangCompiler(toolchain), source()
        key = f"{compiler.fingerprint}\n{text}"
        code = _cache.get(key)
        if code is None:
            code = compiler.compile(text, "weft_spread")
            _cache.put(key, code)
        self._loaded = load(code, "weft_spread")
        self.address = self._loaded.address("weft_spread")
        self.attend = self._loaded.address("weft_attend")
        self.spread = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self.address
        )
        self._set = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self._loaded.address("weft_threads"))
        self.stop = ctypes.CFUNCTYPE(None)(self._loaded.address("weft_stop"))
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.stop)

    def _begin(self) -> None:
        self._set(self.count - 1)


@cache
def pool(toolchain: Toolchain, count: int) -> ThreadPool | None:
    """The one pool of this process; None where one thread computes, or threads are not to be had.

    :raises CompileError: if the compiler fails.
    """
    if count < 2 or not sys.platform.startswith("linux") or os.uname().machine not in _FUTEX:
        return None
    return ThreadPool(toolchain, count)
