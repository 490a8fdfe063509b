// grid None, block (128, 1, 1); opts: Opt(TC, 2, 0), Opt(UPCAST, 1, 4), Opt(UPCAST, 0, 2), Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 2), Opt(SPLIT, 7, 2), Opt(UNROLL, 8, 0), Opt(STAGE, 7, 0)
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
__device__ inline vec<float, 4> mma_m16n8k16_f16(vec<f16, 8> a, vec<f16, 4> b, vec<float, 4> c) {
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
typedef vec<f16, 2> f16x2;
extern "C" __global__ void __launch_bounds__(128) r_2_2_2_2_2_2_2_2_2_4_2(f16* __restrict__ data0,
    const f16* __restrict__ data1, const f16* __restrict__ data2) {
  __shared__ __align__(16) f16 tile0[2048];
  __shared__ __align__(16) f16 tile1[2056];
  f32x4 acc0;
  f32x4 acc1;
  f32x4 acc2;
  f32x4 acc3;
  f32x4 acc4;
  f32x4 acc5;
  f32x4 acc6;
  f32x4 acc7;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 32;
  int alu1 = alu0 * 64;
  int alu2 = alu1 + lidx0 % 32;
  int alu3 = lidx0 / 16 % 2;
  int alu4 = lidx0 / 2;
  int alu5 = lidx0 / 8;
  int alu6 = alu5 % 2;
  int alu7 = lidx0 % 2;
  int alu8 = alu3 * 1024 + alu1 + alu4 % 4 * 16 + alu6 * 4 + alu7;
  int alu9 = alu0 % 2;
  int alu10 = alu9 * 512;
  int alu11 = lidx0 / 64;
  int alu12 = alu10 + lidx0 % 8 * 64 + alu5 % 4 * 4 + alu11;
  acc0 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu13 = alu3 * 256;
  int alu14 = alu6 * 128;
  int alu15 = lidx0 / 4;
  int alu16 = alu15 % 2 * 64;
  int alu17 = alu4 % 2 * 32;
  int alu18 = alu7 * 16;
  int alu19 = alu11 * 512 + alu13 + alu14 + alu16 + alu17 + alu18;
  int alu20 = alu19 + 1024;
  int alu21 = alu10 + alu13 + alu14 + alu16 + alu17 + alu18;
  int alu22 = alu21 + 1028;
  acc1 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu23 = alu21 + 1032;
  acc2 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu24 = alu21 + 8;
  acc3 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu25 = alu21 + 1040;
  acc4 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu26 = alu19 + 1032;
  int alu27 = alu19 + 8;
  acc5 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  acc6 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  acc7 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int ridx7 = 0; ridx7 < 2; ridx7++) {
    int alu28 = alu2 + ridx7 * 32;
    __syncthreads();
    for (int ridx20 = 0; ridx20 < 16; ridx20++) {
      int alu29 = alu8 + ridx20 / 8 * 512 + ridx20 % 2 * 256 + ridx20 / 4 % 2 * 8 + ridx20 / 2 % 2 * 2;
      tile0[alu29] = data1[alu28 + ridx20 * 256];
    }
    int alu30 = lidx0 + ridx7 * 2048;
    for (int ridx21 = 0; ridx21 < 16; ridx21++) {
      tile1[alu12 + ridx21 / 8 * 1028 + ridx21 % 4 * 16 + ridx21 / 4 % 2 * 2] = data2[alu30 + ridx21 * 128];
    }
    __syncthreads();
    f16x8 val0 = *(f16x8*)(tile0 + alu20);
    f16x4 val1 = *(f16x4*)(tile1 + alu22);
    f16x8 val2 = *(f16x8*)(tile0 + alu19);
    f16x8 val3 = *(f16x8*)(tile1 + alu21);
    f16x4 alu31 = f16x4(val3[0], val3[1], val3[2], val3[3]);
    f32x4 wmma0 = mma_m16n8k16_f16(val2, alu31, acc0);
    f32x4 wmma1 = mma_m16n8k16_f16(val0, val1, wmma0);
    acc0 = wmma1;
    f16x8 val4 = *(f16x8*)(tile1 + alu23);
    f16x4 alu32 = f16x4(val4[0], val4[1], val4[2], val4[3]);
    f16x4 alu33 = f16x4(val3[4], val3[5], val3[6], val3[7]);
    f32x4 wmma2 = mma_m16n8k16_f16(val2, alu33, acc1);
    f32x4 wmma3 = mma_m16n8k16_f16(val0, alu32, wmma2);
    acc1 = wmma3;
    f16x4 alu34 = f16x4(val4[4], val4[5], val4[6], val4[7]);
    f16x8 val5 = *(f16x8*)(tile1 + alu24);
    f16x4 alu35 = f16x4(val5[0], val5[1], val5[2], val5[3]);
    f32x4 wmma4 = mma_m16n8k16_f16(val2, alu35, acc2);
    f32x4 wmma5 = mma_m16n8k16_f16(val0, alu34, wmma4);
    acc2 = wmma5;
    f16x4 val6 = *(f16x4*)(tile1 + alu25);
    f16x4 alu36 = f16x4(val5[4], val5[5], val5[6], val5[7]);
    f32x4 wmma6 = mma_m16n8k16_f16(val2, alu36, acc3);
    f32x4 wmma7 = mma_m16n8k16_f16(val0, val6, wmma6);
    acc3 = wmma7;
    f16x8 val7 = *(f16x8*)(tile0 + alu26);
    f16x8 val8 = *(f16x8*)(tile0 + alu27);
    f32x4 wmma8 = mma_m16n8k16_f16(val8, alu31, acc4);
    f32x4 wmma9 = mma_m16n8k16_f16(val7, val1, wmma8);
    acc4 = wmma9;
    f32x4 wmma10 = mma_m16n8k16_f16(val8, alu33, acc5);
    f32x4 wmma11 = mma_m16n8k16_f16(val7, alu32, wmma10);
    acc5 = wmma11;
    f32x4 wmma12 = mma_m16n8k16_f16(val8, alu35, acc6);
    f32x4 wmma13 = mma_m16n8k16_f16(val7, alu34, wmma12);
    acc6 = wmma13;
    f32x4 wmma14 = mma_m16n8k16_f16(val8, alu36, acc7);
    f32x4 wmma15 = mma_m16n8k16_f16(val7, val6, wmma14);
    acc7 = wmma15;
  }
  f32x4 val9 = acc0;
  int alu37 = alu11 * 2048 + alu15 % 8 * 64 + alu9 * 32 + lidx0 % 4 * 2;
  f32x4 val10 = acc1;
  f32x4 val11 = acc2;
  f32x4 val12 = acc3;
  f32x4 val13 = acc4;
  f32x4 val14 = acc5;
  f32x4 val15 = acc6;
  f32x4 val16 = acc7;
  *(f16x2*)(data0 + alu37) = f16x2((f16)(val9[0]), (f16)(val9[1]));
  *(f16x2*)(data0 + alu37 + 8) = f16x2((f16)(val10[0]), (f16)(val10[1]));
  *(f16x2*)(data0 + alu37 + 16) = f16x2((f16)(val11[0]), (f16)(val11[1]));
  *(f16x2*)(data0 + alu37 + 24) = f16x2((f16)(val12[0]), (f16)(val12[1]));
  *(f16x2*)(data0 + alu37 + 512) = f16x2((f16)(val9[2]), (f16)(val9[3]));
  *(f16x2*)(data0 + alu37 + 520) = f16x2((f16)(val10[2]), (f16)(val10[3]));
  *(f16x2*)(data0 + alu37 + 528) = f16x2((f16)(val11[2]), (f16)(val11[3]));
  *(f16x2*)(data0 + alu37 + 536) = f16x2((f16)(val12[2]), (f16)(val12[3]));
  *(f16x2*)(data0 + alu37 + 1024) = f16x2((f16)(val13[0]), (f16)(val13[1]));
  *(f16x2*)(data0 + alu37 + 1032) = f16x2((f16)(val14[0]), (f16)(val14[1]));
  *(f16x2*)(data0 + alu37 + 1040) = f16x2((f16)(val15[0]), (f16)(val15[1]));
  *(f16x2*)(data0 + alu37 + 1048) = f16x2((f16)(val16[0]), (f16)(val16[1]));
  *(f16x2*)(data0 + alu37 + 1536) = f16x2((f16)(val13[2]), (f16)(val13[3]));
  *(f16x2*)(data0 + alu37 + 1544) = f16x2((f16)(val14[2]), (f16)(val14[3]));
  *(f16x2*)(data0 + alu37 + 1552) = f16x2((f16)(val15[2]), (f16)(val15[3]));
  *(f16x2*)(data0 + alu37 + 1560) = f16x2((f16)(val16[2]), (f16)(val16[3]));
}
