// What there is behind the driver's functions: GPUs with their memory, streams that are lazy, kernels.
#pragma once
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "executor.h"

using Address = unsigned long long;
using Result = int;
enum : Result {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  OUT_OF_RESOURCES = 701,
  ALREADY_FRIENDS = 704,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
};

namespace {
struct Context {
  int device;
};
struct Stream {
  Context* context;
  std::deque<std::function<void()>> work;
  uint64_t issued = 0, done = 0;
};
struct Time {
  double seconds = -1;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t place = 0;
  std::shared_ptr<Time> time = std::make_shared<Time>();
};
struct Kernel {
  void (*run)(void**);
  Place* place;
  unsigned count;
  const unsigned* sizes;
  bool barriers;
  void (*fresh)();         // before a block: what it shares holds nothing
  unsigned most_threads;   // of a block: its launch bounds
  size_t static_shared;    // what it declares
  size_t allowed_shared;   // what a launch may ask for beyond that
};
struct Module {
  void* library;
};
struct Launch {
  Kernel* kernel;
  Index grid, block;
  size_t shared = 0;
  std::vector<std::string> parameters;
};
struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS, version 2
  Kernel* kernel;
  Index grid, block;
  unsigned shared;
  void** parameters;
  void** extra;
  void* kern;
  Context* context;
};
struct Node {
  Launch launch;
};
struct Graph {
  std::vector<Node*> nodes;
};
struct Ready {
  std::vector<Node*> order;
  std::map<Node*, Launch> launches;
};
struct Block {
  size_t size;
  int device;
  bool pooled;
};

std::recursive_mutex lock;
thread_local std::vector<Context*> entered;  // the last is the current one
pid_t started = 0;
std::map<Address, Block> memory;
std::map<Address, size_t> pinned;
std::vector<Stream*> streams;
size_t used[16];                        // bytes of a GPU that are taken, those its pool keeps included
std::map<size_t, size_t> kept[16];      // how many blocks of a size its pool keeps
Result lost = SUCCESS;
Executor executor;

size_t setting(const char* name, size_t otherwise) {
  const char* value = getenv(name);
  return value && *value ? strtoull(value, nullptr, 10) : otherwise;
}
int devices() { return (int)setting("SIMT_DEVICES", 2); }
Context* context_of(int device) {
  static Context all[16];
  all[device].device = device;
  return &all[device];
}
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Value>
bool inside(const std::map<Address, Value>& blocks, Address at, size_t size,
            size_t (*size_of)(const Value&)) {
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return false;
  --next;
  return at + size <= next->first + size_of(next->second);
}
bool is_device(Address at, size_t size) {
  return inside<Block>(memory, at, size, [](const Block& b) { return b.size; });
}
bool is_pinned(const void* at, size_t size) {
  return inside<size_t>(pinned, (Address)at, size, [](const size_t& s) { return s; });
}

void run_to(Stream* stream, uint64_t place) {
  while (stream->done < place) {
    auto next = std::move(stream->work.front());
    stream->work.pop_front();
    stream->done++;
    next();
  }
}
Context* current() { return entered.empty() ? nullptr : entered.back(); }
Result here() {
  if (started != getpid()) return NOT_INITIALIZED;  // a fork has its own memory, and no GPU
  if (lost) return lost;
  return current() ? SUCCESS : INVALID_CONTEXT;
}
Result usable(Stream* stream) {
  if (Result bad = here()) return bad;
  return stream && stream->context == current() ? SUCCESS : INVALID_HANDLE;
}
Result put(Stream* stream, std::function<void()> what) {
  if (Result bad = usable(stream)) return bad;
  stream->work.push_back(std::move(what));
  stream->issued++;
  return SUCCESS;
}
Result put_copy(Stream* stream, void* dst, const void* src, size_t size) {
  return put(stream, [=] { memcpy(dst, src, size); });
}

const size_t STATIC_SHARED = 48 << 10;
const size_t MOST_SHARED = 99 << 10;
const size_t PROCESSOR_SHARED = 100 << 10;

// `parameters`: an address for each; or `extra`: all of them behind each other, as structs have them.
Result launch_of(Kernel* kernel, Index grid, Index block, size_t shared, void** parameters,
                 void** extra, Launch& launch) {
  if (!kernel) return INVALID_HANDLE;
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return INVALID_VALUE;
  unsigned threads = block.x * block.y * block.z;
  if (!threads || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024)
    return INVALID_VALUE;
  if (shared > kernel->allowed_shared) return INVALID_VALUE;
  if (threads > kernel->most_threads) return OUT_OF_RESOURCES;
  launch.kernel = kernel, launch.grid = grid, launch.block = block, launch.shared = shared;
  launch.parameters.clear();
  if (parameters) {
    for (unsigned i = 0; i < kernel->count; i++)
      launch.parameters.emplace_back((const char*)parameters[i], kernel->sizes[i]);
    return SUCCESS;
  }
  const char* packed = nullptr;
  size_t given = 0, at = 0;
  for (; extra && *extra; extra += 2) {
    if (*extra == (void*)1) packed = (const char*)extra[1];
    if (*extra == (void*)2) given = *(size_t*)extra[1];
  }
  for (unsigned i = 0; i < kernel->count; i++) {
    size_t size = kernel->sizes[i];
    at = (at + size - 1) / size * size;
    if (!packed || at + size > given) return INVALID_VALUE;
    launch.parameters.emplace_back(packed + at, size);
    at += size;
  }
  return at == given ? SUCCESS : INVALID_VALUE;
}
// Of a kernel that declares nothing, 32 registers a thread are taken for granted.
int blocks_of(const Kernel* kernel, int threads, size_t shared) {
  size_t all = shared + kernel->static_shared;
  if (threads <= 0 || threads > (int)kernel->most_threads || shared > kernel->allowed_shared)
    return 0;
  int by_shared = all ? (int)(PROCESSOR_SHARED / all) : 32;
  return std::min({2048 / threads, 65536 / (32 * threads), 32, by_shared});
}
// What an instruction of a kernel may touch besides its own variables.
bool reachable(Address at, size_t size) {
  static Address low = 1, high = 0;  // the block that was asked for last
  if (at >= low && at + size <= high) return true;
  auto next = memory.upper_bound(at);
  if (next == memory.begin()) return false;
  --next;
  if (at + size > next->first + next->second.size) return false;
  low = next->first, high = next->first + next->second.size;
  return true;
}
void run(Launch& launch) {
  if (lost) return;
  std::vector<void*> given;
  for (auto& parameter : launch.parameters) given.push_back((void*)parameter.data());
  Kernel* k = launch.kernel;
  Executor::Wrong wrong = executor.run(k->place, k->run, given.data(), k->barriers, launch.grid,
                                       launch.block, launch.shared, k->fresh, reachable);
  if (wrong.what.empty()) return;
  fprintf(stderr, "simt: %s\n", wrong.what.c_str());
  lost = wrong.address ? ILLEGAL_ADDRESS : LAUNCH_FAILED;
}
}  // namespace
