// grid (1, 1, 1), block (256, 1, 1); opts: none
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ explicit f16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  __device__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};
__device__ inline f16 operator+(f16 a, f16 b) { return f16((float)a + (float)b); }
__device__ inline f16 operator-(f16 a, f16 b) { return f16((float)a - (float)b); }
__device__ inline f16 operator*(f16 a, f16 b) { return f16((float)a * (float)b); }
__device__ inline f16 operator/(f16 a, f16 b) { return f16((float)a / (float)b); }
__device__ inline f16 operator-(f16 a) { a.bits ^= 0x8000; return a; }
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
template <class T> __device__ inline void copy_piece(unsigned to, const T* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
      :: "r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");  // the rest becomes zeros
}
template <int ROWS, bool ALONG_TERMS, bool WHOLE, class T>
__device__ inline void load_tile(unsigned to, const T* from, int stride, int rows, int terms) {
  #pragma unroll
  for (int i = 0; i < ROWS * 8 / 256; i++) {
    int piece = threadIdx.x + i * 256, row = piece >> 3, at = piece & 7;
    if (ALONG_TERMS) {
      bool there = WHOLE || row < rows && at * 8 < terms;
      copy_piece(to + row * 128 + ((at ^ (row & 7)) << 4),
          from + (there ? row * stride + at * 8 : 0), there);
    } else {
      int term = row & 63, block = row >> 6;
      bool there = WHOLE || term < terms && block * 64 + at * 8 < rows;
      copy_piece(to + block * 8192 + term * 128 + ((at ^ (term & 7)) << 4),
          from + (there ? term * stride + block * 64 + at * 8 : 0), there);
    }
  }
}
__device__ inline unsigned long long tile_descriptor(unsigned at) {
  // Blocks of 64 columns are 8192 bytes apart, groups of eight rows 1024; a swizzle of 128 bytes.
  return (unsigned long long)((at & 0x3ffff) >> 4) | 512ull << 16 | 64ull << 32 | 1ull << 62;
}
template <bool A_TRANSPOSED, bool B_TRANSPOSED, class T>
__device__ inline void multiply_add(float (&c)[32], unsigned long long a,
    unsigned long long b) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, %34, %35;}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "n"(A_TRANSPOSED), "n"(B_TRANSPOSED));
}
template <int COLUMNS, int BUFFERS, bool A_ALONG_TERMS, bool B_ALONG_TERMS, bool WHOLE, class T>
__device__ inline float warpgroup_product(float (&sums)[COLUMNS / 2], unsigned char* memory,
    const T* a, int a_stride, int rows, const T* b, int b_stride, int columns, int terms) {
  const int tiles = (terms + 63) / 64;
  constexpr int AHEAD = BUFFERS - 2, A_BYTES = 128 * 128, BYTES = A_BYTES + COLUMNS * 128;
  unsigned base;
  asm("{.reg .u64 s; cvta.to.shared.u64 s, %1; cvt.u32.u64 %0, s;}" : "=r"(base) : "l"(memory));
  base = base + 1023 & ~1023u;
  auto load = [&](int tile) {
    if (tile < tiles) {
      unsigned to = base + tile % BUFFERS * BYTES;
      int first = tile * 64;
      load_tile<128, A_ALONG_TERMS, WHOLE>(
          to, a + (A_ALONG_TERMS ? first : first * a_stride), a_stride, rows, terms - first);
      load_tile<COLUMNS, B_ALONG_TERMS, WHOLE>(to + A_BYTES,
          b + (B_ALONG_TERMS ? first : first * b_stride), b_stride, columns, terms - first);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  #pragma unroll
  for (int i = 0; i < COLUMNS / 2; i++) sums[i] = 0.0f;
  for (int tile = 0; tile < AHEAD; tile++) load(tile);
  for (int tile = 0; tile < tiles; tile++) {
    asm volatile("cp.async.wait_group %0;" :: "n"(AHEAD - 1) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    load(tile + AHEAD);
    unsigned at = base + tile % BUFFERS * BYTES;
    unsigned x = at + threadIdx.x / 128 * 8192, y = at + A_BYTES;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    #pragma unroll
    for (int step = 0; step < 4; step++) {
      multiply_add<!A_ALONG_TERMS, !B_ALONG_TERMS, T>(sums,
          tile_descriptor(x + step * (A_ALONG_TERMS ? 32 : 2048)),
          tile_descriptor(y + step * (B_ALONG_TERMS ? 32 : 2048)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  return sums[0];
}
typedef vec<f16, 2> f16x2;
extern "C" __global__ void __launch_bounds__(256) w_64_64_64(f16* __restrict__ data0,
    const f16* __restrict__ data1, const f16* __restrict__ data2) {
  extern __shared__ __align__(16) unsigned char weft_shared[];
  unsigned char* tiles = (unsigned char*)(weft_shared + 0);
  float row0[32] __attribute__((aligned(64)));
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 % 1;
  int alu1 = (gidx0 + alu0) * 128;
  int alu2 = alu0 * 64;
  float alu3 = warpgroup_product<64, 4, true, false, false>(row0, tiles, data1 + (alu1 * 64), 64, (64 - alu1),
      data2 + alu2, 64, (64 - alu2), 64);
  row0[0] = alu3;
  int lidx0 = threadIdx.x;
  int alu4 = lidx0 / 32 * 1024 + lidx0 % 32 / 4 * 64 + lidx0 % 4 * 2;
  bool alu5 = lidx0 < 128;
  if (alu5) *(f16x2*)(data0 + alu4) = f16x2((f16)(row0[0]), (f16)(row0[1]));
  if (alu5) *(f16x2*)(data0 + alu4 + 8) = f16x2((f16)(row0[4]), (f16)(row0[5]));
  if (alu5) *(f16x2*)(data0 + alu4 + 16) = f16x2((f16)(row0[8]), (f16)(row0[9]));
  if (alu5) *(f16x2*)(data0 + alu4 + 24) = f16x2((f16)(row0[12]), (f16)(row0[13]));
  if (alu5) *(f16x2*)(data0 + alu4 + 32) = f16x2((f16)(row0[16]), (f16)(row0[17]));
  if (alu5) *(f16x2*)(data0 + alu4 + 40) = f16x2((f16)(row0[20]), (f16)(row0[21]));
  if (alu5) *(f16x2*)(data0 + alu4 + 48) = f16x2((f16)(row0[24]), (f16)(row0[25]));
  if (alu5) *(f16x2*)(data0 + alu4 + 56) = f16x2((f16)(row0[28]), (f16)(row0[29]));
  if (alu5) *(f16x2*)(data0 + alu4 + 512) = f16x2((f16)(row0[2]), (f16)(row0[3]));
  if (alu5) *(f16x2*)(data0 + alu4 + 520) = f16x2((f16)(row0[6]), (f16)(row0[7]));
  if (alu5) *(f16x2*)(data0 + alu4 + 528) = f16x2((f16)(row0[10]), (f16)(row0[11]));
  if (alu5) *(f16x2*)(data0 + alu4 + 536) = f16x2((f16)(row0[14]), (f16)(row0[15]));
  if (alu5) *(f16x2*)(data0 + alu4 + 544) = f16x2((f16)(row0[18]), (f16)(row0[19]));
  if (alu5) *(f16x2*)(data0 + alu4 + 552) = f16x2((f16)(row0[22]), (f16)(row0[23]));
  if (alu5) *(f16x2*)(data0 + alu4 + 560) = f16x2((f16)(row0[26]), (f16)(row0[27]));
  if (alu5) *(f16x2*)(data0 + alu4 + 568) = f16x2((f16)(row0[30]), (f16)(row0[31]));
}
