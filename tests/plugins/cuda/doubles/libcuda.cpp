// A test double of the CUDA driver: the same C interface, memory of this process, kernels run by
// executor.h.
//
// It is as lazy as the real one may be: what is put into a stream is done when somebody waits for
// it, not before, so a host that waits too little reads old bytes. Freed memory, memory that is not
// pinned, contexts that are not current and accesses beyond an allocation are refused.
//
// SIMT_DEVICES: how many GPUs there are (2). SIMT_MEMORY: bytes of each (1 GiB). SIMT_POOLS: 0 for
// a GPU without stream-ordered allocation. SIMT_PEERS: 0 for GPUs that do not see each other's
// memory.
#include "absent.h"
#include "machine.h"

#define API extern "C" __attribute__((visibility("default"))) Result
#define GUARD std::lock_guard<std::recursive_mutex> guard(lock)

API cuInit(unsigned) {
  if (!started) started = getpid();
  return started == getpid() ? SUCCESS : NOT_INITIALIZED;
}
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
      {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
      {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {ALREADY_FRIENDS, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
      {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
  };
  auto found = names.find(code);
  *name = found == names.end() ? nullptr : found->second;
  return *name ? SUCCESS : INVALID_VALUE;
}
API cuGetErrorString(Result code, const char** text) {
  static std::map<Result, std::string> texts;
  const char* name;
  *text = nullptr;
  if (code && cuGetErrorName(code, &name)) return INVALID_VALUE;
  *text = (texts[code] = "result " + std::to_string(code) + " of the test double").c_str();
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
      {8, STATIC_SHARED}, {10, 32}, {12, 65536}, {16, 4}, {38, 1 << 22}, {39, 2048}, {75, 8},
      {76, 0}, {81, PROCESSOR_SHARED}, {82, 65536}, {97, MOST_SHARED}, {106, 32},
  };
  if (attribute == 75 || attribute == 76) {
    size_t capability = setting("SIMT_CAPABILITY", 80);
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return SUCCESS;
  }
  if (attribute == 115) {
    *value = setting("SIMT_POOLS", 1) != 0;
    return SUCCESS;
  }
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return SUCCESS;
}
API cuDeviceComputeCapability(int* major, int* minor, int) {
  *major = 8, *minor = 0;
  return SUCCESS;
}
API cuDeviceCanAccessPeer(int* can, int device, int other) {
  *can = device != other && setting("SIMT_PEERS", 1) != 0;
  return SUCCESS;
}
API cuCtxEnablePeerAccess(Context* peer, unsigned) {
  static std::map<std::pair<int, int>, bool> friends;
  GUARD;
  if (Result bad = here()) return bad;
  bool& known = friends[{current()->device, peer->device}];
  if (known) return ALREADY_FRIENDS;
  known = true;
  return SUCCESS;
}
API cuDeviceGetDefaultMemPool(void** pool, int device) {
  *pool = (void*)(Address)(16 + device);
  return SUCCESS;
}
API cuMemPoolSetAccess(void* pool, const int* who, size_t count) {
  return pool && count == 1 && who[0] == 1 ? SUCCESS : INVALID_VALUE;
}
API cuMemPoolTrimTo(void* pool, size_t) {
  GUARD;
  int device = (int)(Address)pool - 16;
  for (auto& [size, count] : kept[device]) used[device] -= size * count;
  kept[device].clear();
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
  if (started != getpid()) return NOT_INITIALIZED;
  if (entered.empty())
    entered.push_back(context);
  else
    entered.back() = context;
  return SUCCESS;
}
API cuCtxGetCurrent(Context** context) {
  *context = current();
  return SUCCESS;
}
API cuCtxPushCurrent_v2(Context* context) {
  if (started != getpid()) return NOT_INITIALIZED;
  entered.push_back(context);
  return SUCCESS;
}
API cuCtxPopCurrent_v2(Context** context) {
  if (entered.empty()) return INVALID_CONTEXT;
  *context = current();
  entered.pop_back();
  return SUCCESS;
}
API cuCtxGetDevice(int* device) {
  if (Result bad = here()) return bad;
  *device = current()->device;
  return SUCCESS;
}
API cuCtxSynchronize() {
  GUARD;
  if (Result bad = here()) return bad;
  for (Stream* stream : streams)
    if (stream->context == current()) run_to(stream, stream->issued);
  return lost;
}

// ---- memory -------------------------------------------------------------------------------------
static size_t rounded(size_t size) { return (size + 255) & ~(size_t)255; }
static Result allocate(Address* at, size_t size, bool pooled) {
  if (Result bad = here()) return bad;
  if (!size) return INVALID_VALUE;
  int device = current()->device;
  auto again = kept[device].find(rounded(size));
  if (pooled && again != kept[device].end()) {
    if (!--again->second) kept[device].erase(again);
  } else {
    if (used[device] + rounded(size) > setting("SIMT_MEMORY", 1 << 30)) return OUT_OF_MEMORY;
    used[device] += rounded(size);
  }
  void* block = aligned_alloc(256, rounded(size));
  if (!block) return OUT_OF_MEMORY;
  memset(block, 0xff, size);  // NaN, -1: what is read before it is written shows
  *at = (Address)block;
  memory[*at] = {size, device, pooled};
  return SUCCESS;
}
static Result forget(Address at) {
  auto found = memory.find(at);
  if (found == memory.end()) return INVALID_VALUE;
  auto [size, device, pooled] = found->second;
  if (pooled)
    kept[device][rounded(size)]++;  // whatever its size, another size finds no room in it
  else
    used[device] -= rounded(size);
  memory.erase(found);
  return SUCCESS;
}
API cuMemAlloc_v2(Address* at, size_t size) {
  GUARD;
  return allocate(at, size, false);
}
API cuMemAllocAsync(Address* at, size_t size, Stream* stream) {
  GUARD;
  if (Result bad = usable(stream)) return bad;
  return allocate(at, size, true);
}
API cuMemGetInfo_v2(size_t* unused, size_t* all) {
  GUARD;
  if (Result bad = here()) return bad;
  *all = setting("SIMT_MEMORY", 1 << 30);
  *unused = *all - used[current()->device];
  return SUCCESS;
}
API cuMemFree_v2(Address at) {
  GUARD;
  if (Result bad = here()) return bad;
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
  if (Result bad = here()) return bad;
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
  if (Result bad = here()) return bad;
  *stream = new Stream{current(), {}};
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
API cuStreamQuery(Stream* stream) {
  GUARD;
  return stream->done == stream->issued ? lost : NOT_READY;
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
API cuEventQuery(Event* event) {
  GUARD;
  return event->time->seconds < 0 ? NOT_READY : lost;
}
API cuEventSynchronize(Event* event) {
  GUARD;
  if (Result bad = here()) return bad;
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

// How many modules were given back: for tests.
static int unloaded = 0;
API simt_unloaded() { return unloaded; }

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
API cuModuleLoadDataEx(Module** module, const void* image, unsigned count, int* options,
                       void** values) {
  Result done = cuModuleLoadData(module, image);
  for (unsigned i = 0; i < count; i++)
    if (options[i] == 4 || options[i] == 6) values[i] = nullptr;  // how long the logs are
  return done;
}
API cuModuleUnload(Module* module) {
  GUARD;
  if (Result bad = here()) return bad;
  for (Stream* stream : streams) run_to(stream, stream->issued);
  unloaded++;
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
      (void (*)())dlsym(library, "simt_fresh"),
      *(unsigned*)dlsym(library, "simt_most_threads"),
      ((size_t (*)())dlsym(library, "simt_static_shared"))(),
      STATIC_SHARED,
  };
  return SUCCESS;
}
API cuFuncGetAttribute(int* value, int attribute, Kernel* kernel) {
  const std::map<int, size_t> values = {
      {0, kernel->most_threads}, {1, kernel->static_shared},  {2, 0}, {3, 0}, {4, 32},
      {8, kernel->allowed_shared},
  };
  auto found = values.find(attribute);
  if (found == values.end()) return INVALID_VALUE;
  *value = (int)found->second;
  return SUCCESS;
}
API cuFuncSetAttribute(Kernel* kernel, int attribute, int value) {
  if (attribute != 8 || value < 0 || value + kernel->static_shared > MOST_SHARED)
    return INVALID_VALUE;
  kernel->allowed_shared = std::max((size_t)value, STATIC_SHARED);
  return SUCCESS;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int threads,
                                                size_t shared) {
  *blocks = blocks_of(kernel, threads, shared);
  return SUCCESS;
}
API cuLaunchKernel(Kernel* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, Stream* stream, void** parameters, void** extra) {
  GUARD;
  if (Result bad = usable(stream)) return bad;
  Launch launch;
  if (Result bad = launch_of(kernel, {gx, gy, gz}, {bx, by, bz}, shared, parameters, extra, launch))
    return bad;
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
  Result bad = launch_of(kind->kernel, kind->grid, kind->block, kind->shared, kind->parameters,
                         kind->extra, made->launch);
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
  return launch_of(kind->kernel, kind->grid, kind->block, kind->shared, kind->parameters,
                   kind->extra, found->second);
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
