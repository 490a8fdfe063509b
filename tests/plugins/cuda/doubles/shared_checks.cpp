// What a kernel touches is looked at: its own variables, what it declares as shared memory, what the
// driver gave out. The compiler calls the functions below before each access, and says where the
// arrays with a life longer than a call are, as it does for an address sanitizer.
//
// Compiled once, and linked to every kernel: it takes as long as most kernels do. Without a
// sanitizer of its own.
#include "cuda_on_cpu.h"

struct simt_array {  // the compiler's: where, how long, how long with what stands behind it
  const char* at;
  unsigned long size, full;
  const char *name, *file;
  unsigned long dynamic;
  const void* place;
  unsigned long indicator;
};
static simt_array simt_arrays[64];
static unsigned simt_array_count;

// Arrays have the names of the functions they are in: "kernel::array".
static inline bool simt_is_kernels(const char* name) {
  const char* kernel = simt_name();
  while (*kernel)
    if (*name++ != *kernel++) return false;
  return *name == ':';
}
static inline unsigned long simt_size_of(const simt_array& array) {
  return array.at == (const char*)simt_dynamic() ? simt_here.shared : array.size;
}

static void simt_access(const char* at, unsigned long size) {
  if (at >= simt_here.stack && at < simt_here.stack_end) return;
  const char* near = nullptr;
  for (unsigned i = 0; i < simt_array_count; i++) {
    const simt_array& array = simt_arrays[i];
    if (at >= array.at && at + size <= array.at + simt_size_of(array)) return;
    if (at + size > array.at && at < array.at + array.full) near = array.name;
  }
  if (!near && simt_here.reachable((unsigned long long)at, size)) return;
  simt_here.wrong(at, size, near);
}

extern "C" {
void __asan_register_globals(simt_array* arrays, unsigned long count) {
  for (unsigned long i = 0; i < count && simt_array_count < 64; i++)
    simt_arrays[simt_array_count++] = arrays[i];
}
void __asan_unregister_globals(simt_array*, unsigned long) {}
void __asan_handle_no_return() {}
#define SIMT_ACCESS(size)                                                     \
  void __asan_load##size##_noabort(const char* at) { simt_access(at, size); } \
  void __asan_store##size##_noabort(const char* at) { simt_access(at, size); }
SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)
void __asan_loadN_noabort(const char* at, unsigned long n) { simt_access(at, n); }
void __asan_storeN_noabort(const char* at, unsigned long n) { simt_access(at, n); }

// How much shared memory the kernel declares.
SIMT_SEEN_BY_ALL unsigned long simt_static_shared() {
  unsigned long all = 0;
  for (unsigned i = 0; i < simt_array_count; i++) {
    const simt_array& array = simt_arrays[i];
    if (simt_is_kernels(array.name)) all += array.size;
  }
  return all;
}
// A block finds nothing of the one before: NaN, -1.
SIMT_SEEN_BY_ALL void simt_fresh() {
  for (unsigned i = 0; i < simt_array_count; i++) {
    const simt_array& array = simt_arrays[i];
    if (!simt_is_kernels(array.name) && array.at != (const char*)simt_dynamic()) continue;
    volatile unsigned char* bytes = (volatile unsigned char*)array.at;
    for (unsigned long k = 0; k < simt_size_of(array); k++) bytes[k] = 0xff;
  }
}
}
