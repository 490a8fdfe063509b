// grid (8, 4, 1), block (32, 1, 1); opts: Opt(TC, 2, 0), Opt(SPLIT, 7, 2), Opt(UNROLL, 8, 0)
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
__device__ inline vec<float, 4> mma_m16n8k16_f16(
    vec<f16, 8> a, vec<f16, 4> b, vec<float, 4> c) {
  const unsigned *x = (const unsigned*)a.lane, *y = (const unsigned*)b.lane;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}
typedef vec<float, 4> f32x4;
typedef vec<f16, 2> f16x2;
typedef vec<f16, 8> f16x8;
typedef vec<f16, 4> f16x4;
extern "C" __global__ void __launch_bounds__(32) r_4_8_2_2_2_2_2_2_2(f16* __restrict__ data0,
    const f16* __restrict__ data1, const f16* __restrict__ data2) {
  f32x4 acc0;
  acc0 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 4;
  int alu1 = alu0 % 2;
  int alu2 = lidx0 / 8 % 2;
  int alu3 = lidx0 / 16;
  int alu4 = lidx0 % 2;
  int alu5 = lidx0 / 2 % 2;
  int gidx1 = blockIdx.y;
  int alu6 = gidx1 * 1024;
  int alu7 = alu1 * 64 + alu2 * 128 + alu3 * 256 + alu4 * 2 + alu5 * 4 + alu6;
  int gidx0 = blockIdx.x;
  int alu8 = gidx0 * 8;
  int alu9 = alu1 + alu2 * 2 + alu3 * 4 + alu4 * 128 + alu5 * 256 + alu8;
  for (int ridx7 = 0; ridx7 < 2; ridx7++) {
    int alu10 = alu7 + ridx7 * 32;
    f16x2 val0 = *(const f16x2*)(data1 + alu10 + 16);
    f16x2 val1 = *(const f16x2*)(data1 + alu10 + 528);
    f16x2 val2 = *(const f16x2*)(data1 + alu10 + 24);
    f16x2 val3 = *(const f16x2*)(data1 + alu10 + 536);
    f16x8 alu11 = f16x8(val0[0], val0[1], val1[0], val1[1], val2[0], val2[1], val3[0], val3[1]);
    int alu12 = alu9 + ridx7 * 2048;
    f16x4 alu13 = f16x4(data2[alu12 + 1024], data2[alu12 + 1088], data2[alu12 + 1536], data2[alu12 + 1600]);
    f16x2 val4 = *(const f16x2*)(data1 + alu10);
    f16x2 val5 = *(const f16x2*)(data1 + alu10 + 512);
    f16x2 val6 = *(const f16x2*)(data1 + alu10 + 8);
    f16x2 val7 = *(const f16x2*)(data1 + alu10 + 520);
    f16x8 alu14 = f16x8(val4[0], val4[1], val5[0], val5[1], val6[0], val6[1], val7[0], val7[1]);
    f16x4 alu15 = f16x4(data2[alu12], data2[alu12 + 64], data2[alu12 + 512], data2[alu12 + 576]);
    f32x4 wmma0 = mma_m16n8k16_f16(alu14, alu15, acc0);
    f32x4 wmma1 = mma_m16n8k16_f16(alu11, alu13, wmma0);
    acc0 = wmma1;
  }
  f32x4 val8 = acc0;
  int alu16 = alu0 * 64 + lidx0 % 4 * 2 + alu8 + alu6;
  *(f16x2*)(data0 + alu16) = f16x2((f16)(val8[0]), (f16)(val8[1]));
  *(f16x2*)(data0 + alu16 + 512) = f16x2((f16)(val8[2]), (f16)(val8[3]));
}
