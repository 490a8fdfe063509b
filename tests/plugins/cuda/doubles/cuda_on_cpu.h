// What a kernel written in CUDA C++ needs to be compiled for this processor. Included before it.
#pragma once
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct uint3 {
  unsigned x, y, z;
};

// Who runs: written by the executor (executor.h) before it enters or resumes a thread.
struct simt_place {
  uint3 thread, block, block_size, grid_size;
  void (*barrier)(int line);
  const char *stack, *stack_end;  // of the thread that runs
  unsigned long shared;           // bytes that the launch asked for
  bool (*reachable)(unsigned long long at, unsigned long size);
  void (*wrong)(const char* at, unsigned long size, const char* near);
};
#define SIMT_SEEN_BY_ALL __attribute__((visibility("default")))
#define SIMT_UNSEEN __attribute__((no_sanitize("kernel-address")))
extern "C" {
SIMT_SEEN_BY_ALL extern simt_place simt_here;
// Shared memory whose size the launch says; null where there is none.
SIMT_SEEN_BY_ALL unsigned char* simt_dynamic();
SIMT_SEEN_BY_ALL const char* simt_name();
}
#define threadIdx (simt_here.thread)
#define blockIdx (simt_here.block)
#define blockDim (simt_here.block_size)
#define gridDim (simt_here.grid_size)
#define __syncthreads() simt_here.barrier(__LINE__)

#define sqrtf(x) __builtin_sqrtf(x)
#define sqrt(x) __builtin_sqrt(x)
#define truncf(x) __builtin_truncf(x)
#define trunc(x) __builtin_trunc(x)
#define fmaf(a, b, c) __builtin_fmaf(a, b, c)
#define fma(a, b, c) __builtin_fma(a, b, c)
#define __int_as_float(x) __builtin_bit_cast(float, (int)(x))
#define __float_as_uint(x) __builtin_bit_cast(unsigned, (float)(x))
#define __uint_as_float(x) __builtin_bit_cast(float, (unsigned)(x))
#define __longlong_as_double(x) __builtin_bit_cast(double, (long long)(x))

// The instructions that kernels spell as such; libnvrtc.cpp puts these names in their place.
static inline void simt_f16_from_f32(unsigned short& bits, float x) {
  bits = __builtin_bit_cast(unsigned short, (_Float16)x);
}
static inline void simt_f32_from_f16(float& x, unsigned short bits) {
  x = (float)__builtin_bit_cast(_Float16, bits);
}

static inline unsigned simt_item() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// What two warpgroups compute: the sums of one thread, each over all terms. In the fragments of wgmma a
// thread has two adjacent columns of every eight, in two rows that are eight apart.
template <int COLUMNS, int BUFFERS, bool A_ALONG_TERMS, bool B_ALONG_TERMS, bool WHOLE, class T>
static inline float warpgroup_product(float* sums, unsigned char*, const T* a, int a_stride,
                                      int rows, const T* b, int b_stride, int columns, int terms) {
  int thread = simt_item(), first = thread / 32 * 16 + thread % 32 / 4;
  for (int sum = 0; sum < COLUMNS / 2; sum++) {
    int row = first + sum / 2 % 2 * 8, column = sum / 4 * 8 + thread % 4 * 2 + sum % 2;
    sums[sum] = 0.0f;
    if (row >= rows || column >= columns) continue;
    for (int term = 0; term < terms; term++)
      sums[sum] += (float)a[A_ALONG_TERMS ? row * a_stride + term : term * a_stride + row] *
                   (float)b[B_ALONG_TERMS ? column * b_stride + term : term * b_stride + column];
  }
  return sums[0];
}

// Lanes show each other what they hold; a lane that is not there shows the last that was.
template <class T>
static inline T __shfl_xor_sync(unsigned, T x, int by) {
  static T held[1024];
  unsigned item = simt_item();
  held[item] = x;
  __syncthreads();
  T other = held[item - item % 32 + (item % 32 ^ by)];
  __syncthreads();
  return other;
}

// cp.async: a copy is carried out when it is waited for, and not a moment before. What a block left
// on its way when it ended is forgotten.
struct simt_flight {
  char* to;
  unsigned batch, size;
  char bytes[16];
};
struct simt_flights {
  unsigned count, batch;
  simt_flight flights[1024];
};
static simt_flights* simt_mine() {
  static simt_flights all[1024];
  static unsigned long of[1024];
  unsigned item = simt_item();
  unsigned long block = 1 + blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long)gridDim.y * blockIdx.z);
  if (of[item] != block) all[item].count = all[item].batch = 0, of[item] = block;
  return &all[item];
}
static inline void simt_copy(void* to, const void* from, int size, int read) {
  if ((unsigned long)to % size || (read && (unsigned long)from % size)) __builtin_trap();
  simt_flights* mine = simt_mine();
  if (mine->count == 1024) __builtin_trap();
  simt_flight& flight = mine->flights[mine->count++];
  flight.to = (char*)to, flight.batch = mine->batch, flight.size = size;
  for (int i = 0; i < size; i++) flight.bytes[i] = i < read ? ((const char*)from)[i] : 0;
}
static inline void simt_commit() { simt_mine()->batch++; }
static inline void simt_wait(unsigned newer) {
  simt_flights* mine = simt_mine();
  unsigned left = 0;
  for (unsigned i = 0; i < mine->count; i++) {
    simt_flight& flight = mine->flights[i];
    if (flight.batch + newer >= mine->batch) {
      mine->flights[left++] = flight;
      continue;
    }
    for (unsigned b = 0; b < flight.size; b++) flight.to[b] = flight.bytes[b];
  }
  mine->count = left;
}

// mma.sync.aligned of 16 x 8 results with sums in float: lanes show each other what they hold. A
// register holds neighbours along the sum; four lanes have four registers of a row, and a second one
// each of the rows eight further, and further ones of the rest of the sum.
template <class T, int A, int B>
struct simt_held {
  T a[A], b[B];
};
static inline float simt_tf32(float x) {  // ten bits of the fraction, ties away from zero
  unsigned bits = __builtin_bit_cast(unsigned, x);
  return x - x == 0 ? __builtin_bit_cast(float, (bits + 0x1000) & ~0x1fffu) : x;
}
template <int A, int B, class T>
static inline void simt_mma(const T* a, const T* b, float* c) {
  static simt_held<T, A, B> held[1024];
  unsigned item = simt_item(), lane = item % 32;
  simt_held<T, A, B>* warp = held + (item - lane);
  for (int i = 0; i < A; i++) warp[lane].a[i] = a[i];
  for (int i = 0; i < B; i++) warp[lane].b[i] = b[i];
  __syncthreads();
  constexpr unsigned packed = 4 / sizeof(T), terms = 2 * A;
  for (int i = 0; i < 4; i++) {
    unsigned row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < terms; k++) {
      unsigned place = k / packed, in = k % packed, far = place / 4;
      float x = (float)warp[row % 8 * 4 + place % 4].a[in + (row / 8 + 2 * far) * packed];
      float y = (float)warp[column * 4 + place % 4].b[in + far * packed];
      c[i] += sizeof(T) == 4 ? simt_tf32(x) * simt_tf32(y) : x * y;
    }
  }
  __syncthreads();
}

// How the executor calls a kernel whose parameters' types only the compiler knows.
template <class... Types>
struct simt_signature {
  static constexpr unsigned count = sizeof...(Types);
  unsigned sizes[count + 1] = {sizeof(Types)..., 0};
};
template <class... Types>
constexpr simt_signature<Types...> simt_sizes_of(void (*)(Types...)) {
  return {};
}
template <unsigned... I>
struct simt_numbers {};
template <unsigned N, unsigned... I>
struct simt_count : simt_count<N - 1, N - 1, I...> {};
template <unsigned... I>
struct simt_count<0, I...> {
  using type = simt_numbers<I...>;
};
template <class... Types, unsigned... I>
SIMT_UNSEEN inline void simt_apply(void (*kernel)(Types...), void** given, simt_numbers<I...>) {
  kernel(*(Types*)given[I]...);
}
template <class... Types>
SIMT_UNSEEN inline void simt_enter(void (*kernel)(Types...), void** given) {
  simt_apply(kernel, given, typename simt_count<sizeof...(Types)>::type{});
}
#define SIMT_KERNEL(name, has_barriers)                                       \
  static constexpr auto simt_found = simt_sizes_of(name);                     \
  extern "C" {                                                                \
  simt_place simt_here;                                                       \
  SIMT_SEEN_BY_ALL unsigned simt_count_of = simt_found.count;                 \
  SIMT_SEEN_BY_ALL const unsigned* simt_sizes = simt_found.sizes;             \
  SIMT_SEEN_BY_ALL int simt_barriers = has_barriers;                          \
  SIMT_UNSEEN const char* simt_name() { return #name; }                       \
  SIMT_UNSEEN SIMT_SEEN_BY_ALL void simt_run(void** given) {                  \
    simt_enter(name, given);                                                  \
  }                                                                           \
  }
