// A test double of the CUDA driver: the same C interface, memory of this process, kernels run by
// executor.h.
//
// It is as lazy as the real one may be: what is put into a stream is done when somebody waits for
// it, not before, so a host that waits too little reads old bytes. Freed memory, memory that is not
// pinned, contexts that are not current and accesses beyond an allocation are refused.
//
// SIMT_DEVICES: how many GPUs there are (2). SIMT_MEMORY: bytes of each (1 GiB). SIMT_POOLS: 0 for
// a GPU without stream-ordered allocation.
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "executor.h"

using Address = unsigned long long;
using Result = int;
enum : Result {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  INVALID_IMAGE = 200,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  LAUNCH_FAILED = 719,
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
};
struct Module {
  void* library;
};
struct Launch {
  Kernel* kernel;
  Index grid, block;
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
};

std::recursive_mutex lock;
thread_local Context* current = nullptr;
std::map<Address, Block> memory;
std::map<Address, size_t> pinned;
std::vector<Stream*> streams;
size_t used[16];
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
Result usable(Stream* stream) {
  if (lost) return lost;
  if (!current) return INVALID_CONTEXT;
  return stream && stream->context == current ? SUCCESS : INVALID_HANDLE;
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

Result launch_of(Kernel* kernel, Index grid, Index block, void** parameters, Launch& launch) {
  if (!kernel) return INVALID_HANDLE;
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return INVALID_VALUE;
  if (!block.x || !block.y || !block.z || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.x * block.y * block.z > 1024)
    return INVALID_VALUE;
  launch.kernel = kernel, launch.grid = grid, launch.block = block;
  launch.parameters.clear();
  for (unsigned i = 0; i < kernel->count; i++)
    launch.parameters.emplace_back((const char*)parameters[i], kernel->sizes[i]);
  return SUCCESS;
}
void run(Launch& launch) {
  if (lost) return;
  std::vector<void*> given;
  for (auto& parameter : launch.parameters) given.push_back((void*)parameter.data());
  Kernel* k = launch.kernel;
  std::string wrong =
      executor.run(k->place, k->run, given.data(), k->barriers, launch.grid, launch.block);
  if (wrong.empty()) return;
  fprintf(stderr, "simt: %s\n", wrong.c_str());
  lost = LAUNCH_FAILED;
}
}  // namespace

#define API extern "C" __attribute__((visibility("default"))) Result
#define GUARD std::lock_guard<std::recursive_mutex> guard(lock)

API cuInit(unsigned) { return SUCCESS; }
API cuDriverGetVersion(int* version) {
  *version = 13000;
  return SUCCESS;
}
API cuGetErrorName(Result code, const char** name) {
  static const std::map<Result, const char*> names = {
      {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},   {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"}, {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},   {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},           {NOT_READY, "CUDA_ERROR_NOT_READY"},
      {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  auto found = names.find(code);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return SUCCESS;
}
API cuGetErrorString(Result, const char** text) {
  *text = "said by the test double";
  return SUCCESS;
}

// ---- devices and contexts -----------------------------------------------------------------------
API cuDeviceGetCount(int* count) {
  *count = devices();
  return SUCCESS;
}
API cuDeviceGet(int* device, int number) {
  *device = number;
  return number < devices() ? SUCCESS : INVALID_DEVICE;
}
API cuDeviceGetName(char* name, int size, int) {
  snprintf(name, size, "Test double");
  return SUCCESS;
}
API cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = setting("SIMT_MEMORY", 1 << 30);
  return SUCCESS;
}
API cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values = {
      {1, 1024}, {2, 1024}, {3, 1024},   {4, 64},     {5, 0x7fffffff}, {6, 65535}, {7, 65535},
      {8, 49152}, {10, 32}, {12, 65536}, {16, 1},     {39, 2048},      {75, 8},    {76, 0},
  };
  if (attribute == 115) {
    *value = setting("SIMT_POOLS", 1) != 0;
    return SUCCESS;
  }
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return SUCCESS;
}
API cuDeviceGetDefaultMemPool(void** pool, int) {
  *pool = (void*)16;
  return SUCCESS;
}
API cuMemPoolSetAttribute(void*, int attribute, void*) {
  return attribute == 4 ? SUCCESS : INVALID_VALUE;
}
API cuDevicePrimaryCtxRetain(Context** context, int device) {
  *context = context_of(device);
  return SUCCESS;
}
API cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
API cuCtxSetCurrent(Context* context) {
  current = context;
  return SUCCESS;
}
API cuCtxGetCurrent(Context** context) {
  *context = current;
  return SUCCESS;
}

// ---- memory -------------------------------------------------------------------------------------
static Result allocate(Address* at, size_t size) {
  if (lost) return lost;
  if (!current) return INVALID_CONTEXT;
  if (!size) return INVALID_VALUE;
  if (used[current->device] + size > setting("SIMT_MEMORY", 1 << 30)) return OUT_OF_MEMORY;
  void* block = aligned_alloc(256, (size + 255) & ~(size_t)255);
  if (!block) return OUT_OF_MEMORY;
  memset(block, 0xff, size);  // NaN, -1: what is read before it is written shows
  *at = (Address)block;
  memory[*at] = {size, current->device};
  used[current->device] += size;
  return SUCCESS;
}
static Result forget(Address at) {
  auto found = memory.find(at);
  if (found == memory.end()) return INVALID_VALUE;
  used[found->second.device] -= found->second.size;
  memory.erase(found);
  return SUCCESS;
}
API cuMemAlloc_v2(Address* at, size_t size) {
  GUARD;
  return allocate(at, size);
}
API cuMemAllocAsync(Address* at, size_t size, Stream* stream) {
  GUARD;
  if (Result bad = usable(stream)) return bad;
  return allocate(at, size);
}
API cuMemFree_v2(Address at) {
  GUARD;
  for (Stream* stream : streams) run_to(stream, stream->issued);
  if (Result bad = forget(at)) return bad;
  free((void*)at);
  return lost;
}
API cuMemFreeAsync(Address at, Stream* stream) {
  GUARD;
  if (Result bad = usable(stream)) return bad;
  if (Result bad = forget(at)) return bad;
  return put(stream, [=] { free((void*)at); });
}
API cuMemHostAlloc(void** at, size_t size, unsigned) {
  GUARD;
  *at = aligned_alloc(256, (size + 255) & ~(size_t)255);
  pinned[(Address)*at] = size;
  return *at ? SUCCESS : OUT_OF_MEMORY;
}
API cuMemFreeHost(void* at) {
  GUARD;
  if (!pinned.erase((Address)at)) return INVALID_VALUE;
  for (Stream* stream : streams) run_to(stream, stream->issued);
  free(at);
  return SUCCESS;
}
API cuMemcpyHtoDAsync_v2(Address dst, const void* src, size_t size, Stream* stream) {
  GUARD;
  if (!is_device(dst, size) || !is_pinned(src, size)) return INVALID_VALUE;
  return put_copy(stream, (void*)dst, src, size);
}
API cuMemcpyDtoHAsync_v2(void* dst, Address src, size_t size, Stream* stream) {
  GUARD;
  if (!is_device(src, size) || !is_pinned(dst, size)) return INVALID_VALUE;
  return put_copy(stream, dst, (void*)src, size);
}
API cuMemcpyDtoDAsync_v2(Address dst, Address src, size_t size, Stream* stream) {
  GUARD;
  if (!is_device(dst, size) || !is_device(src, size)) return INVALID_VALUE;
  return put_copy(stream, (void*)dst, (void*)src, size);
}
API cuMemcpyPeerAsync(Address dst, Context*, Address src, Context*, size_t size, Stream* stream) {
  GUARD;
  if (!is_device(dst, size) || !is_device(src, size)) return INVALID_VALUE;
  return put_copy(stream, (void*)dst, (void*)src, size);
}

// ---- streams and events -------------------------------------------------------------------------
API cuStreamCreate(Stream** stream, unsigned) {
  GUARD;
  if (!current) return INVALID_CONTEXT;
  *stream = new Stream{current, {}};
  streams.push_back(*stream);
  return SUCCESS;
}
API cuStreamSynchronize(Stream* stream) {
  GUARD;
  if (Result bad = usable(stream)) return bad;
  run_to(stream, stream->issued);
  return lost;
}
API cuStreamDestroy_v2(Stream* stream) {
  GUARD;
  run_to(stream, stream->issued);  // never deleted: events may still name it
  return SUCCESS;
}
API cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  GUARD;
  Stream* other = event->stream;
  uint64_t place = event->place;
  return put(stream, [=] {
    if (other) run_to(other, place);
  });
}
API cuEventCreate(Event** event, unsigned) {
  *event = new Event;
  return SUCCESS;
}
API cuEventDestroy_v2(Event* event) {
  delete event;
  return SUCCESS;
}
API cuEventRecord(Event* event, Stream* stream) {
  GUARD;
  auto time = event->time = std::make_shared<Time>();
  Result bad = put(stream, [=] { time->seconds = now(); });
  event->stream = stream, event->place = stream->issued;
  return bad;
}
API cuEventSynchronize(Event* event) {
  GUARD;
  if (event->stream) run_to(event->stream, event->place);
  return lost;
}
API cuEventElapsedTime(float* milliseconds, Event* start, Event* stop) {
  GUARD;
  if (start->time->seconds < 0 || stop->time->seconds < 0) return NOT_READY;
  *milliseconds = (float)((stop->time->seconds - start->time->seconds) * 1000);
  return SUCCESS;
}
API cuEventElapsedTime_v2(float* milliseconds, Event* start, Event* stop) {
  return cuEventElapsedTime(milliseconds, start, stop);
}

// ---- kernels ------------------------------------------------------------------------------------
API cuModuleLoadData(Module** module, const void* image) {
  GUARD;
  const auto* head = (const Elf64_Ehdr*)image;
  if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_type != ET_DYN) return INVALID_IMAGE;
  size_t size = head->e_shoff + (size_t)head->e_shentsize * head->e_shnum;
  char path[] = "/tmp/weft-simt-XXXXXX";  // a name of its own: dlopen remembers names
  int file = mkstemp(path);
  bool whole = write(file, image, size) == (ssize_t)size;
  void* library = whole ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) fprintf(stderr, "simt: %s\n", dlerror());
  close(file);
  unlink(path);
  if (!library) return INVALID_IMAGE;
  *module = new Module{library};
  return SUCCESS;
}
API cuModuleUnload(Module* module) {
  dlclose(module->library);
  delete module;
  return SUCCESS;
}
API cuModuleGetFunction(Kernel** kernel, Module* module, const char* name) {
  void* library = module->library;
  if (!dlsym(library, name)) return NOT_FOUND;
  *kernel = new Kernel{
      (void (*)(void**))dlsym(library, "simt_run"),
      (Place*)dlsym(library, "simt_here"),
      *(unsigned*)dlsym(library, "simt_count_of"),
      *(const unsigned**)dlsym(library, "simt_sizes"),
      *(int*)dlsym(library, "simt_barriers") != 0,
  };
  return SUCCESS;
}
API cuLaunchKernel(Kernel* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned, Stream* stream, void** parameters, void**) {
  GUARD;
  Launch launch;
  if (Result bad = launch_of(kernel, {gx, gy, gz}, {bx, by, bz}, parameters, launch)) return bad;
  return put(stream, [launch]() mutable { run(launch); });
}

// ---- graphs -------------------------------------------------------------------------------------
API cuGraphCreate(Graph** graph, unsigned) {
  *graph = new Graph;
  return SUCCESS;
}
API cuGraphAddKernelNode_v2(Node** node, Graph* graph, Node* const* before, size_t count,
                            const KernelNode* kind) {
  // A chain is all that this double runs in order.
  if (count != (graph->nodes.empty() ? 0 : 1) || (count && before[0] != graph->nodes.back()))
    return INVALID_VALUE;
  auto* made = new Node;
  Result bad = launch_of(kind->kernel, kind->grid, kind->block, kind->parameters, made->launch);
  if (bad) return bad;
  graph->nodes.push_back(made);
  *node = made;
  return SUCCESS;
}
API cuGraphInstantiateWithFlags(Ready** ready, Graph* graph, unsigned long long) {
  *ready = new Ready{graph->nodes, {}};
  for (Node* node : graph->nodes) (*ready)->launches[node] = node->launch;
  return SUCCESS;
}
API cuGraphExecKernelNodeSetParams_v2(Ready* ready, Node* node, const KernelNode* kind) {
  auto found = ready->launches.find(node);
  if (found == ready->launches.end()) return INVALID_VALUE;
  return launch_of(kind->kernel, kind->grid, kind->block, kind->parameters, found->second);
}
API cuGraphLaunch(Ready* ready, Stream* stream) {
  GUARD;
  for (Node* node : ready->order) {
    Launch launch = ready->launches[node];
    if (Result bad = put(stream, [launch]() mutable { run(launch); })) return bad;
  }
  return SUCCESS;
}
API cuGraphExecDestroy(Ready* ready) {
  delete ready;
  return SUCCESS;
}
API cuGraphDestroy(Graph* graph) {
  for (Node* node : graph->nodes) delete node;
  delete graph;
  return SUCCESS;
}

// ---- how cuda-bindings finds all of these -------------------------------------------------------
API cuGetProcAddress_v2(const char* name, void** found, int, unsigned long long, int* status) {
  static void* self = [] {
    Dl_info info;
    dladdr((void*)cuInit, &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  std::string base = name;
  if (base == "cuGraphInstantiate") base = "cuGraphInstantiateWithFlags";
  *found = nullptr;
  for (const char* version : {"_v2", ""})
    if (!*found) *found = dlsym(self, (base + version).c_str());
  if (status) *status = *found ? 0 : 1;
  return *found ? SUCCESS : NOT_FOUND;
}
API cuGetProcAddress(const char* name, void** found, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, found, version, flags, nullptr);
}
