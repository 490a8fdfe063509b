"""Thread pool source: one algorithm in C, and the threads of three kinds of systems.

Linux sleeps on a word (futex). Other systems with POSIX threads, macOS among them, sleep on a
condition variable under a mutex, and so does Windows, under a slim lock. These work on every
version of those systems; calls that sleep on a word are private on macOS before 14.4.

Source: U. Drepper, "Futexes are tricky" (2011); POSIX.1-2017, pthread_cond_wait; Microsoft, Windows
API, Slim Reader/Writer Locks, Condition Variables.
"""

from __future__ import annotations

import os
import signal
import sys

from weft.plugin import SourceText

ENTRIES = ("weft_spread", "weft_attend", "weft_threads", "weft_stop")
"""The functions of the pool."""
MOST = 256
STACK = 16 << 20
"""Bytes of a worker's stack: kernels keep packed operands there. Only what is touched is used."""

SPINS = 100
"""Iterations of spinning on a word before a thread sleeps on it: a few microseconds."""
ATTENTIVE = 20_000
"""The same for a worker during a row of launches, or as long as it worked before: almost a
millisecond."""
PATIENT = 2_000
"""The same for the launching thread while other threads finish the last parts."""

LINUX, POSIX, WINDOWS = "linux", "posix", "windows"
_CALLS = {
    "x86_64": {"futex": 202, "gettid": 186, "getcpu": 309, "getaffinity": 204, "setaffinity": 203},
    "aarch64": {"futex": 98, "gettid": 178, "getcpu": 168, "getaffinity": 123, "setaffinity": 122},
}
"""The numbers of system calls of Linux."""

_POOL = """\
typedef long long word;
typedef unsigned int u32;
typedef void kernel(const word*, word, word);
#define MOST %(most)d
#define OPEN 0x80000000u   /* parts are left: workers may join */
#define ASLEEP 0x40000000u /* the launching thread sleeps until the last worker has left */

/* Words that threads wait on have cache lines of their own (no false sharing). */
static _Alignas(64) _Atomic u32 epoch;   /* one more for every launch */
static _Atomic u32 attending;            /* how many rows of launches are under way */
static _Alignas(64) _Atomic u32 members; /* flags, and how many workers are at it */
static _Alignas(64) _Atomic u32 sleepers;
static _Atomic u32 busy, stop, workers; /* the last: how many there shall be */
static u32 made; /* threads that exist; the holder of `busy` owns this and the next variables */
static kernel* job;
static const word* arguments;
static word parts;
static void* threads[MOST];

/* Consecutive parts, with which one thread begins; other threads help when their own are done. A
   thread therefore mostly works on memory that it wrote in the kernel before. */
typedef struct {
  _Alignas(64) _Atomic word next; /* the first part that no thread has taken */
  word end;
} lane;
static lane lanes[MOST];
static word lane_count;

/* Functions of the system. await: sleep while a word has a value. wake: wake threads that sleep
on a
   word. start: start the threads first to end - 1, and return the number of threads. end: wait for
   the end of a thread. yield: let other threads run. prepare: initialise, again in a child of
   fork. settle: note where a worker runs. separate: before a wake, keep workers off the processor
   of the launching thread. */
static void await(_Atomic u32* place, u32 value);
static void wake(_Atomic u32* place, int most);
static u32 start(u32 first, u32 end);
static void end(u32 number);
static void yield(void);
static void prepare(void);
static void settle(word self);
static void separate(void);

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* A steady clock with any unit. */
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

static void work(word self) {
  for (;;) {
    u32 seen = epoch;
    word began = ticks(), worked = 0;
    if (join()) {
      /* a worker that wakes up wakes others, so that the launching thread can compute */
      if (sleepers && is_left()) wake(&epoch, 2);
      take_parts(self);
      settle(self);
      worked = ticks() - began;
      if (--members == ASLEEP) wake(&members, 1);
    }
    if (stop) return;
    /* The next kernel often follows at once, and waking a thread is slow. A worker therefore spins
       for a few microseconds, or as long as it has just worked, or within a row of launches. */
    word until = ticks() + worked;
    for (int spin = 0; epoch == seen; spin++) {
      if (spin >= %(spins)d && !attending && ticks() >= until) break;
      if (spin >= %(attentive)d) break;
      relax();
    }
    if (epoch == seen) {
      sleepers++;
      await(&epoch, seen);
      sleepers--;
    }
  }
}

/* Run all parts of a kernel; they are done when this returns. */
void weft_spread(kernel* f, const word* a, word count) {
  u32 no = 0;
  if (count < 2 || !workers || stop ||
      !__c11_atomic_compare_exchange_strong(&busy, &no, 1, 5, 5)) {
    f(a, 0, 1);
    return;
  }
  if (made < workers) made = workers = start(made, workers);
  job = f, arguments = a;
  lay_out(count);
  members = OPEN;
  epoch++;
  if (sleepers) {
    separate();
    wake(&epoch, count > 2 ? 2 : 1);
  }
  take_parts(0);
  u32 left = __c11_atomic_fetch_and(&members, ~OPEN, 5) & ~OPEN;
  for (int spin = 0; left && spin < %(patient)d; spin++, left = members) relax();
  if (left) {
    left = __c11_atomic_fetch_or(&members, ASLEEP, 5) | ASLEEP;
    for (; left != ASLEEP; left = members) await(&members, left);
  }
  members = 0;
  busy = 0;
}

/* Begin a row of launches with at most `most` parts: wake that many workers. 0: end the row. */
void weft_attend(word most) {
  if (!most) {
    attending--;
    return;
  }
  attending++;
  if (sleepers && !stop) {
    separate();
    epoch++;
    wake(&epoch, (int)most - 1);
  }
}

/* Set the number of threads besides the launching one, before any exists, or in a child of fork. */
void weft_threads(word count) {
  made = 0, workers = (u32)count;
  epoch = attending = members = sleepers = busy = stop = 0;
  prepare();
}

/* Wait for all threads and end them. Later launches use no other thread. */
void weft_stop(void) {
  u32 no = 0;
  stop = 1;
  while (!__c11_atomic_compare_exchange_strong(&busy, &no, 1, 5, 5)) {
    no = 0;
    yield();
  }
  epoch++;
  wake(&epoch, MOST);
  for (u32 i = 0; i < made; i++) end(i);
  made = workers = 0;
  busy = 0;
}
"""

_OF_POSIX = """
extern int pthread_create(void*, const void*, void* (*)(void*), void*);
extern int pthread_join(void*, void**);
extern int pthread_attr_init(void*);
extern int pthread_attr_destroy(void*);
extern int pthread_attr_setstacksize(void*, unsigned long);
extern int pthread_sigmask(int, const void*, void*);
extern int sched_yield(void);

static void* run(void* self) {
  work((word)self);
  return 0;
}

static u32 start(u32 first, u32 end) {
  word attributes[32], old[32], all[32];
  for (int i = 0; i < 32; i++) all[i] = -1;
  if (pthread_attr_init(attributes)) return 0;
  pthread_attr_setstacksize(attributes, %(stack)d);
  pthread_sigmask(%(set_mask)d, all, old); /* signals are for the threads that Python knows */
  for (; first < end; first++)
    if (pthread_create(&threads[first], attributes, run, (void*)(word)(first + 1))) break;
  pthread_sigmask(%(set_mask)d, old, 0);
  pthread_attr_destroy(attributes);
  return first;
}

static void end(u32 number) { pthread_join(threads[number], 0); }
static void yield(void) { sched_yield(); }
"""

_FUTEXES = """
extern long syscall(long, ...);
static void await(_Atomic u32* place, u32 value) { syscall(%(futex)d, place, 128, value, 0L); }
static void wake(_Atomic u32* place, int most) { syscall(%(futex)d, place, 129, most); }

/* A thread that is woken often stays on the processor of the thread that wakes it, although others
   are idle: kernels of a millisecond give the system no time to move it. */
static _Atomic int homes[MOST + 1]; /* the processor of each worker, from 1 on; 0: not known */
static _Atomic int ids[MOST + 1];

static int processor(void) {
  u32 number;
  return syscall(%(getcpu)d, &number, 0L, 0L) ? 0 : (int)number + 1;
}

static void settle(word self) {
  if (!ids[self]) ids[self] = (int)syscall(%(gettid)d);
  homes[self] = processor();
}

static void separate(void) {
  int here = processor();
  word allowed[128];
  for (u32 i = 1; here && i <= workers; i++) {
    if (homes[i] != here) continue;
    homes[i] = 0;
    word size = syscall(%(getaffinity)d, 0L, sizeof allowed, allowed), others = 0;
    if (size <= (here - 1) / 8) return;
    allowed[(here - 1) / 64] &= ~(1ll << (here - 1) %% 64);
    for (word k = 0; k < size / 8; k++) others |= allowed[k];
    if (others) syscall(%(setaffinity)d, (word)ids[i], size, allowed);
  }
}

static void prepare(void) {
  for (int i = 0; i <= MOST; i++) homes[i] = ids[i] = 0;
}
"""

_NO_AFFINITY = """
static void settle(word self) {}
static void separate(void) {}
"""

_CONDITIONS = """
extern int pthread_mutex_init(void*, const void*);
extern int pthread_mutex_lock(void*);
extern int pthread_mutex_unlock(void*);
extern int pthread_cond_init(void*, const void*);
extern int pthread_cond_wait(void*, void*);
extern int pthread_cond_signal(void*);
extern int pthread_cond_broadcast(void*);
static word lock[16], workers_wait[16], launcher_waits[16]; /* longer than of any system */

static word* condition(_Atomic u32* place) {
  return place == &epoch ? workers_wait : launcher_waits;
}

static void await(_Atomic u32* place, u32 value) {
  pthread_mutex_lock(lock);
  if (*place == value) pthread_cond_wait(condition(place), lock);
  pthread_mutex_unlock(lock);
}

static void wake(_Atomic u32* place, int most) {
  pthread_mutex_lock(lock); /* a thread that has compared the word already sleeps */
  if (most >= MOST) pthread_cond_broadcast(condition(place));
  else
    for (int i = 0; i < most; i++) pthread_cond_signal(condition(place));
  pthread_mutex_unlock(lock);
}

static void prepare(void) {
  pthread_mutex_init(lock, 0);
  pthread_cond_init(workers_wait, 0);
  pthread_cond_init(launcher_waits, 0);
}
"""

_OF_WINDOWS = """
extern void* CreateThread(void*, word, u32 (*)(void*), void*, u32, u32*);
extern u32 WaitForSingleObject(void*, u32);
extern int CloseHandle(void*);
extern int SwitchToThread(void);
extern void AcquireSRWLockExclusive(void**);
extern void ReleaseSRWLockExclusive(void**);
extern int SleepConditionVariableSRW(void**, void**, u32, u32);
extern void WakeConditionVariable(void**);
extern void WakeAllConditionVariable(void**);
static void *lock, *workers_wait, *launcher_waits; /* zeros are their initial state */

static void** condition(_Atomic u32* place) {
  return place == &epoch ? &workers_wait : &launcher_waits;
}

static void await(_Atomic u32* place, u32 value) {
  AcquireSRWLockExclusive(&lock);
  if (*place == value) SleepConditionVariableSRW(condition(place), &lock, 0xFFFFFFFFu, 0);
  ReleaseSRWLockExclusive(&lock);
}

static void wake(_Atomic u32* place, int most) {
  AcquireSRWLockExclusive(&lock); /* a thread that has compared the word already sleeps */
  if (most >= MOST) WakeAllConditionVariable(condition(place));
  else
    for (int i = 0; i < most; i++) WakeConditionVariable(condition(place));
  ReleaseSRWLockExclusive(&lock);
}

static u32 run(void* self) {
  work((word)self);
  return 0;
}

static u32 start(u32 first, u32 end) {
  /* 0x10000: the size is what is reserved of addresses, not of memory */
  for (; first < end; first++) {
    threads[first] = CreateThread(0, %(stack)d, run, (void*)(word)(first + 1), 0x10000, 0);
    if (!threads[first]) break;
  }
  return first;
}

static void end(u32 number) {
  WaitForSingleObject(threads[number], 0xFFFFFFFFu);
  CloseHandle(threads[number]);
}

static void yield(void) { SwitchToThread(); }
static void prepare(void) {}
"""

_PARTS = {
    LINUX: (_POOL, _OF_POSIX, _FUTEXES),
    POSIX: (_POOL, _CONDITIONS, _OF_POSIX, _NO_AFFINITY),
    WINDOWS: (_POOL, _OF_WINDOWS, _NO_AFFINITY),
}


def this_system() -> str:
    """Which kind of threads this system has: LINUX, POSIX or WINDOWS."""
    if sys.platform == "win32":
        return WINDOWS
    is_linux = sys.platform.startswith("linux") and os.uname().machine in _CALLS
    return LINUX if is_linux else POSIX


def source(system: str | None = None) -> SourceText:
    """The C of the pool for a kind of system; None: for this one."""
    system = system or this_system()
    values = {
        "most": MOST,
        "stack": STACK,
        "spins": SPINS,
        "attentive": ATTENTIVE,
        "patient": PATIENT,
        **(_CALLS[os.uname().machine] if system == LINUX else {}),
        # Windows has no signal masks
        "set_mask": int(getattr(signal, "SIG_SETMASK", 0)),
    }
    return SourceText("".join(_PARTS[system]) % values, entries=ENTRIES)
