// grid (16, 16, 1), block (64, 1, 1); opts: Opt(TC, 2, 1), Opt(LOCAL, 1, 2), Opt(SPLIT, 8, 4), Opt(UNROLL, 9, 0), Opt(STAGE, 8, 3)
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
__device__ inline vec<float, 4> mma_m16n8k16_bf16(
    vec<bf16, 8> a, vec<bf16, 4> b, vec<float, 4> c) {
  const unsigned *x = (const unsigned*)a.lane, *y = (const unsigned*)b.lane;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}
typedef vec<float, 4> f32x4;
typedef vec<bf16, 8> bf16x8;
typedef vec<bf16, 4> bf16x4;
typedef vec<float, 2> f32x2;
extern "C" __global__ void __launch_bounds__(64) r_16_16_2_2_2_2_2_2_8_4(float* __restrict__ data0,
    const bf16* __restrict__ data1, const bf16* __restrict__ data2) {
  __shared__ __align__(16) bf16 tile0[2112];
  f32x4 acc0;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 8;
  int alu1 = alu0 % 2;
  int alu2 = lidx0 / 16 % 2;
  int alu3 = lidx0 / 32;
  int alu4 = lidx0 / 4;
  int alu5 = alu4 % 2;
  int alu6 = lidx0 / 2;
  int alu7 = alu6 % 2;
  int alu8 = lidx0 % 2;
  int alu9 = alu1 * 512 + alu2 * 1024 + alu3 * 2048 + alu5 * 32 + alu7 * 16 + alu8 * 8;
  int gidx1 = blockIdx.y;
  int alu10 = alu9 + gidx1 * 8192;
  int alu11 = alu8 * 4;
  int alu12 = alu6 % 4 * 264 + alu0 * 32 + alu11;
  bf16x8 val0 = *(const bf16x8*)(data1 + alu10);
  bf16x8 val1 = *(const bf16x8*)(data1 + alu10 + 4096);
  int alu13 = alu5 * 528 + alu7 * 264 + alu3 * 128 + alu2 * 64 + alu1 * 32 + alu11;
  *(bf16x4*)(tile0 + alu13) = bf16x4(val0[0], val0[1], val1[0], val1[1]);
  *(bf16x4*)(tile0 + alu13 + 8) = bf16x4(val0[2], val0[3], val1[2], val1[3]);
  *(bf16x4*)(tile0 + alu13 + 16) = bf16x4(val0[4], val0[5], val1[4], val1[5]);
  *(bf16x4*)(tile0 + alu13 + 24) = bf16x4(val0[6], val0[7], val1[6], val1[7]);
  acc0 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu14 = lidx0 % 32 * 8;
  int alu15 = alu3 * 8;
  int gidx0 = blockIdx.x;
  int alu16 = gidx0 * 16;
  int alu17 = alu15 + alu5 + alu1 * 2 + alu2 * 4 + alu8 * 512 + alu7 * 1024 + alu16;
  for (int ridx8 = 0; ridx8 < 8; ridx8++) {
    int alu18 = alu10 + ridx8 * 64;
    bool alu19 = ridx8 < 7;
    bf16x8 val2 = alu19 ? *(const bf16x8*)(data1 + alu18 + 64) : bf16x8(((bf16)0.0f), ((bf16)0.0f),
        ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f));
    bf16x8 val3 = alu19 ? *(const bf16x8*)(data1 + alu18 + 4160) : bf16x8(((bf16)0.0f), ((bf16)0.0f),
        ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f), ((bf16)0.0f));
    int alu20 = alu12 + (ridx8 + 1) % 2 * 1056;
    __syncthreads();
    int alu21 = alu14 + ridx8 % 2 * 1056;
    int alu22 = alu17 + ridx8 * 16384;
    bf16x4 alu23 = bf16x4(data2[alu22 + 12288], data2[alu22 + 12544], data2[alu22 + 14336],
        data2[alu22 + 14592]);
    bf16x4 alu24 = bf16x4(data2[alu22 + 8192], data2[alu22 + 8448], data2[alu22 + 10240],
        data2[alu22 + 10496]);
    bf16x4 alu25 = bf16x4(data2[alu22 + 4096], data2[alu22 + 4352], data2[alu22 + 6144], data2[alu22 + 6400]);
    bf16x4 alu26 = bf16x4(data2[alu22], data2[alu22 + 256], data2[alu22 + 2048], data2[alu22 + 2304]);
    f32x4 wmma0 = mma_m16n8k16_bf16(*(bf16x8*)(tile0 + alu21), alu26, acc0);
    f32x4 wmma1 = mma_m16n8k16_bf16(*(bf16x8*)(tile0 + alu21 + 264), alu25, wmma0);
    f32x4 wmma2 = mma_m16n8k16_bf16(*(bf16x8*)(tile0 + alu21 + 528), alu24, wmma1);
    f32x4 wmma3 = mma_m16n8k16_bf16(*(bf16x8*)(tile0 + alu21 + 792), alu23, wmma2);
    acc0 = wmma3;
    *(bf16x4*)(tile0 + alu20) = bf16x4(val2[0], val2[1], val3[0], val3[1]);
    *(bf16x4*)(tile0 + alu20 + 8) = bf16x4(val2[2], val2[3], val3[2], val3[3]);
    *(bf16x4*)(tile0 + alu20 + 16) = bf16x4(val2[4], val2[5], val3[4], val3[5]);
    *(bf16x4*)(tile0 + alu20 + 24) = bf16x4(val2[6], val2[7], val3[6], val3[7]);
  }
  f32x4 val4 = acc0;
  int alu27 = alu4 % 8 * 256 + alu15 + lidx0 % 4 * 2 + alu16 + gidx1 * 4096;
  *(f32x2*)(data0 + alu27) = f32x2(val4[0], val4[1]);
  *(f32x2*)(data0 + alu27 + 2048) = f32x2(val4[2], val4[3]);
}
