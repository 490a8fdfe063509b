// grid (4, 4, 1), block (64, 1, 1); opts: Opt(TC, 2, 0), Opt(LOCAL, 1, 2), Opt(SPLIT, 8, 4), Opt(UNROLL, 9, 0), Opt(STAGE, 8, 2)
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
__device__ inline vec<float, 4> mma_m16n8k8_f16(
    vec<f16, 4> a, vec<f16, 2> b, vec<float, 4> c) {
  const unsigned *x = (const unsigned*)a.lane, *y = (const unsigned*)b.lane;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(y[0]));
  return c;
}
typedef vec<float, 4> f32x4;
typedef vec<f16, 8> f16x8;
typedef vec<f16, 2> f16x2;
typedef vec<f16, 4> f16x4;
extern "C" __global__ void __launch_bounds__(64) r_4_4_2_2_2_2_2_2_2_4(f16* __restrict__ data0,
    const f16* __restrict__ data1, const f16* __restrict__ data2) {
  __shared__ __align__(16) f16 tile0[1056];
  f32x4 acc0;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 4;
  int alu1 = alu0 % 2;
  int alu2 = lidx0 / 8 % 2;
  int alu3 = lidx0 / 16 % 2;
  int alu4 = lidx0 / 32;
  int alu5 = lidx0 / 2 % 2;
  int alu6 = lidx0 % 2;
  int alu7 = alu1 * 64 + alu2 * 128 + alu3 * 256 + alu4 * 512 + alu5 * 16 + alu6 * 8;
  int gidx1 = blockIdx.y;
  int alu8 = gidx1 * 1024;
  int alu9 = alu7 + alu8;
  int alu10 = lidx0 % 4;
  int alu11 = alu0 % 8;
  int alu12 = alu4 * 2;
  int alu13 = alu10 * 132 + alu11 * 16 + alu12;
  f16x8 val0 = *(const f16x8*)(data1 + alu9);
  int alu14 = alu5 * 264 + alu6 * 132 + alu3 * 64 + alu2 * 32 + alu1 * 16 + alu12;
  *(f16x2*)(tile0 + alu14) = f16x2(val0[0], val0[1]);
  *(f16x2*)(tile0 + alu14 + 4) = f16x2(val0[2], val0[3]);
  *(f16x2*)(tile0 + alu14 + 8) = f16x2(val0[4], val0[5]);
  *(f16x2*)(tile0 + alu14 + 12) = f16x2(val0[6], val0[7]);
  acc0 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu15 = lidx0 % 32 * 4;
  int alu16 = alu4 * 8;
  int gidx0 = blockIdx.x;
  int alu17 = gidx0 * 16;
  int alu18 = alu16 + alu1 + alu2 * 2 + alu3 * 4 + alu6 * 128 + alu5 * 256 + alu17;
  for (int ridx8 = 0; ridx8 < 2; ridx8++) {
    f16x8 val1 = (ridx8 < 1) ? *(const f16x8*)(data1 + alu9 + ridx8 * 32 + 32) : f16x8(((f16)0.0f),
        ((f16)0.0f), ((f16)0.0f), ((f16)0.0f), ((f16)0.0f), ((f16)0.0f), ((f16)0.0f), ((f16)0.0f));
    int alu19 = alu13 + (ridx8 + 1) % 2 * 528;
    __syncthreads();
    int alu20 = alu15 + ridx8 * 528;
    int alu21 = alu18 + ridx8 * 2048;
    f32x4 wmma0 = mma_m16n8k8_f16(*(f16x4*)(tile0 + alu20), f16x2(data2[alu21], data2[alu21 + 64]), acc0);
    f32x4 wmma1 = mma_m16n8k8_f16(*(f16x4*)(tile0 + alu20 + 132), f16x2(data2[alu21 + 512],
        data2[alu21 + 576]), wmma0);
    f32x4 wmma2 = mma_m16n8k8_f16(*(f16x4*)(tile0 + alu20 + 264), f16x2(data2[alu21 + 1024],
        data2[alu21 + 1088]), wmma1);
    f32x4 wmma3 = mma_m16n8k8_f16(*(f16x4*)(tile0 + alu20 + 396), f16x2(data2[alu21 + 1536],
        data2[alu21 + 1600]), wmma2);
    acc0 = wmma3;
    *(f16x2*)(tile0 + alu19) = f16x2(val1[0], val1[1]);
    *(f16x2*)(tile0 + alu19 + 4) = f16x2(val1[2], val1[3]);
    *(f16x2*)(tile0 + alu19 + 8) = f16x2(val1[4], val1[5]);
    *(f16x2*)(tile0 + alu19 + 12) = f16x2(val1[6], val1[7]);
  }
  f32x4 val2 = acc0;
  int alu22 = alu11 * 64 + alu16 + alu10 * 2 + alu17 + alu8;
  *(f16x2*)(data0 + alu22) = f16x2((f16)(val2[0]), (f16)(val2[1]));
  *(f16x2*)(data0 + alu22 + 512) = f16x2((f16)(val2[2]), (f16)(val2[3]));
}
