// grid (2, 1, 1), block (256, 1, 1); opts: none
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ explicit bf16(float x) {
    unsigned u = __float_as_uint(x);
    bits = x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
  }
  __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};
__device__ inline bf16 operator+(bf16 a, bf16 b) { return bf16((float)a + (float)b); }
__device__ inline bf16 operator-(bf16 a, bf16 b) { return bf16((float)a - (float)b); }
__device__ inline bf16 operator*(bf16 a, bf16 b) { return bf16((float)a * (float)b); }
__device__ inline bf16 operator/(bf16 a, bf16 b) { return bf16((float)a / (float)b); }
__device__ inline bf16 operator-(bf16 a) { a.bits ^= 0x8000; return a; }
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
__device__ inline void multiply_add(float (&c)[128], unsigned long long a,
    unsigned long long b) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, %130, %131;}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]), "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]), "+f"(c[70]), "+f"(c[71]), "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]), "+f"(c[77]), "+f"(c[78]), "+f"(c[79]), "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83]), "+f"(c[84]), "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]), "+f"(c[89]), "+f"(c[90]), "+f"(c[91]), "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]), "+f"(c[96]), "+f"(c[97]), "+f"(c[98]), "+f"(c[99]), "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103]), "+f"(c[104]), "+f"(c[105]), "+f"(c[106]), "+f"(c[107]), "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111]), "+f"(c[112]), "+f"(c[113]), "+f"(c[114]), "+f"(c[115]), "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]), "+f"(c[120]), "+f"(c[121]), "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]), "+f"(c[126]), "+f"(c[127])
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
typedef vec<float, 2> f32x2;
extern "C" __global__ void __launch_bounds__(256) w_256_256_512(float* __restrict__ data0,
    const bf16* __restrict__ data1, const bf16* __restrict__ data2) {
  extern __shared__ __align__(16) unsigned char weft_shared[];
  unsigned char* tiles = (unsigned char*)(weft_shared + 0);
  float row0[128] __attribute__((aligned(64)));
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 / 2;
  int alu1 = (alu0 * 2 + gidx0 % 2) * 128;
  int alu2 = alu0 % 1 * 256;
  float alu3 = warpgroup_product<256, 4, true, false, true>(row0, tiles, data1 + (alu1 * 512), 512,
      (256 - alu1), data2 + alu2, 256, (256 - alu2), 512);
  row0[0] = alu3;
  int lidx0 = threadIdx.x;
  int alu4 = lidx0 / 32 * 4096 + lidx0 % 32 / 4 * 256 + lidx0 % 4 * 2 + gidx0 * 32768;
  *(f32x2*)(data0 + alu4) = f32x2(row0[0], row0[1]);
  *(f32x2*)(data0 + alu4 + 8) = f32x2(row0[4], row0[5]);
  *(f32x2*)(data0 + alu4 + 16) = f32x2(row0[8], row0[9]);
  *(f32x2*)(data0 + alu4 + 24) = f32x2(row0[12], row0[13]);
  *(f32x2*)(data0 + alu4 + 32) = f32x2(row0[16], row0[17]);
  *(f32x2*)(data0 + alu4 + 40) = f32x2(row0[20], row0[21]);
  *(f32x2*)(data0 + alu4 + 48) = f32x2(row0[24], row0[25]);
  *(f32x2*)(data0 + alu4 + 56) = f32x2(row0[28], row0[29]);
  *(f32x2*)(data0 + alu4 + 64) = f32x2(row0[32], row0[33]);
  *(f32x2*)(data0 + alu4 + 72) = f32x2(row0[36], row0[37]);
  *(f32x2*)(data0 + alu4 + 80) = f32x2(row0[40], row0[41]);
  *(f32x2*)(data0 + alu4 + 88) = f32x2(row0[44], row0[45]);
  *(f32x2*)(data0 + alu4 + 96) = f32x2(row0[48], row0[49]);
  *(f32x2*)(data0 + alu4 + 104) = f32x2(row0[52], row0[53]);
  *(f32x2*)(data0 + alu4 + 112) = f32x2(row0[56], row0[57]);
  *(f32x2*)(data0 + alu4 + 120) = f32x2(row0[60], row0[61]);
  *(f32x2*)(data0 + alu4 + 128) = f32x2(row0[64], row0[65]);
  *(f32x2*)(data0 + alu4 + 136) = f32x2(row0[68], row0[69]);
  *(f32x2*)(data0 + alu4 + 144) = f32x2(row0[72], row0[73]);
  *(f32x2*)(data0 + alu4 + 152) = f32x2(row0[76], row0[77]);
  *(f32x2*)(data0 + alu4 + 160) = f32x2(row0[80], row0[81]);
  *(f32x2*)(data0 + alu4 + 168) = f32x2(row0[84], row0[85]);
  *(f32x2*)(data0 + alu4 + 176) = f32x2(row0[88], row0[89]);
  *(f32x2*)(data0 + alu4 + 184) = f32x2(row0[92], row0[93]);
  *(f32x2*)(data0 + alu4 + 192) = f32x2(row0[96], row0[97]);
  *(f32x2*)(data0 + alu4 + 200) = f32x2(row0[100], row0[101]);
  *(f32x2*)(data0 + alu4 + 208) = f32x2(row0[104], row0[105]);
  *(f32x2*)(data0 + alu4 + 216) = f32x2(row0[108], row0[109]);
  *(f32x2*)(data0 + alu4 + 224) = f32x2(row0[112], row0[113]);
  *(f32x2*)(data0 + alu4 + 232) = f32x2(row0[116], row0[117]);
  *(f32x2*)(data0 + alu4 + 240) = f32x2(row0[120], row0[121]);
  *(f32x2*)(data0 + alu4 + 248) = f32x2(row0[124], row0[125]);
  *(f32x2*)(data0 + alu4 + 2048) = f32x2(row0[2], row0[3]);
  *(f32x2*)(data0 + alu4 + 2056) = f32x2(row0[6], row0[7]);
  *(f32x2*)(data0 + alu4 + 2064) = f32x2(row0[10], row0[11]);
  *(f32x2*)(data0 + alu4 + 2072) = f32x2(row0[14], row0[15]);
  *(f32x2*)(data0 + alu4 + 2080) = f32x2(row0[18], row0[19]);
  *(f32x2*)(data0 + alu4 + 2088) = f32x2(row0[22], row0[23]);
  *(f32x2*)(data0 + alu4 + 2096) = f32x2(row0[26], row0[27]);
  *(f32x2*)(data0 + alu4 + 2104) = f32x2(row0[30], row0[31]);
  *(f32x2*)(data0 + alu4 + 2112) = f32x2(row0[34], row0[35]);
  *(f32x2*)(data0 + alu4 + 2120) = f32x2(row0[38], row0[39]);
  *(f32x2*)(data0 + alu4 + 2128) = f32x2(row0[42], row0[43]);
  *(f32x2*)(data0 + alu4 + 2136) = f32x2(row0[46], row0[47]);
  *(f32x2*)(data0 + alu4 + 2144) = f32x2(row0[50], row0[51]);
  *(f32x2*)(data0 + alu4 + 2152) = f32x2(row0[54], row0[55]);
  *(f32x2*)(data0 + alu4 + 2160) = f32x2(row0[58], row0[59]);
  *(f32x2*)(data0 + alu4 + 2168) = f32x2(row0[62], row0[63]);
  *(f32x2*)(data0 + alu4 + 2176) = f32x2(row0[66], row0[67]);
  *(f32x2*)(data0 + alu4 + 2184) = f32x2(row0[70], row0[71]);
  *(f32x2*)(data0 + alu4 + 2192) = f32x2(row0[74], row0[75]);
  *(f32x2*)(data0 + alu4 + 2200) = f32x2(row0[78], row0[79]);
  *(f32x2*)(data0 + alu4 + 2208) = f32x2(row0[82], row0[83]);
  *(f32x2*)(data0 + alu4 + 2216) = f32x2(row0[86], row0[87]);
  *(f32x2*)(data0 + alu4 + 2224) = f32x2(row0[90], row0[91]);
  *(f32x2*)(data0 + alu4 + 2232) = f32x2(row0[94], row0[95]);
  *(f32x2*)(data0 + alu4 + 2240) = f32x2(row0[98], row0[99]);
  *(f32x2*)(data0 + alu4 + 2248) = f32x2(row0[102], row0[103]);
  *(f32x2*)(data0 + alu4 + 2256) = f32x2(row0[106], row0[107]);
  *(f32x2*)(data0 + alu4 + 2264) = f32x2(row0[110], row0[111]);
  *(f32x2*)(data0 + alu4 + 2272) = f32x2(row0[114], row0[115]);
  *(f32x2*)(data0 + alu4 + 2280) = f32x2(row0[118], row0[119]);
  *(f32x2*)(data0 + alu4 + 2288) = f32x2(row0[122], row0[123]);
  *(f32x2*)(data0 + alu4 + 2296) = f32x2(row0[126], row0[127]);
}
