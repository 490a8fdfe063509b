// grid (1, 14, 4), block (32, 1, 1); opts: Opt(PADTO, 2, 8), Opt(TC, 3, 0), Opt(SWAP, 8, 10), Opt(UNROLL, 10, 2)
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
typedef vec<f16, 8> f16x8;
typedef vec<f16, 4> f16x4;
extern "C" __global__ void __launch_bounds__(32) r_4_14_1_2_2_2_2_2_3_3_2(f16* __restrict__ data0,
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
  int gidx0 = blockIdx.x;
  int alu6 = alu1 + alu2 * 2 + alu3 * 4 + alu4 * 392 + alu5 * 784 + gidx0 * 16;
  int gidx1 = blockIdx.y;
  int alu7 = gidx1 * 14;
  int alu8 = alu6 + alu7;
  bool alu9 = lidx0 < 24;
  int gidx2 = blockIdx.z;
  int alu10 = alu1 * 288 + alu2 * 576 + alu3 * 1152 + alu4 * 18 + alu5 * 36 + gidx2 * 2304;
  for (int ridx8 = 0; ridx8 < 3; ridx8++) {
    int alu11 = alu8 + ridx8;
    int alu12 = alu0 + ridx8;
    bool alu13 = !(alu12 < 1);
    bool alu14 = alu9 & (alu12 < 7);
    int alu15 = alu10 + ridx8;
    for (int ridx9 = 0; ridx9 < 3; ridx9++) {
      int alu16 = alu11 + ridx9 * 14;
      int alu17 = gidx1 + ridx9;
      bool alu18 = alu17 < 15;
      bool alu19 = !(alu17 < 1);
      bool alu20 = alu13 & alu18 & alu19;
      bool alu21 = alu14 & alu18 & alu19;
      f16x8 alu22 = f16x8(alu20 ? data1[alu16 + 3121] : ((f16)0.0f),
          alu20 ? data1[alu16 + 3317] : ((f16)0.0f), alu21 ? data1[alu16 + 3129] : ((f16)0.0f),
          alu21 ? data1[alu16 + 3325] : ((f16)0.0f), alu20 ? data1[alu16 + 4689] : ((f16)0.0f),
          alu20 ? data1[alu16 + 4885] : ((f16)0.0f), alu21 ? data1[alu16 + 4697] : ((f16)0.0f),
          alu21 ? data1[alu16 + 4893] : ((f16)0.0f));
      int alu23 = alu15 + ridx9 * 3;
      f16x4 alu24 = f16x4(data2[alu23 + 144], data2[alu23 + 153], data2[alu23 + 216], data2[alu23 + 225]);
      f16x8 alu25 = f16x8(alu20 ? data1[alu16 + (-15)] : ((f16)0.0f),
          alu20 ? data1[alu16 + 181] : ((f16)0.0f), alu21 ? data1[alu16 + (-7)] : ((f16)0.0f),
          alu21 ? data1[alu16 + 189] : ((f16)0.0f), alu20 ? data1[alu16 + 1553] : ((f16)0.0f),
          alu20 ? data1[alu16 + 1749] : ((f16)0.0f), alu21 ? data1[alu16 + 1561] : ((f16)0.0f),
          alu21 ? data1[alu16 + 1757] : ((f16)0.0f));
      f16x4 alu26 = f16x4(data2[alu23], data2[alu23 + 9], data2[alu23 + 72], data2[alu23 + 81]);
      f32x4 wmma0 = mma_m16n8k16_f16(alu25, alu26, acc0);
      f32x4 wmma1 = mma_m16n8k16_f16(alu22, alu24, wmma0);
      acc0 = wmma1;
    }
  }
  f32x4 val0 = acc0;
  int alu27 = lidx0 % 4 * 392 + alu0 + alu7 + gidx2 * 1568;
  data0[alu27] = (f16)(val0[0]);
  data0[alu27 + 196] = (f16)(val0[1]);
  if (alu9) data0[alu27 + 8] = (f16)(val0[2]);
  if (alu9) data0[alu27 + 204] = (f16)(val0[3]);
}
