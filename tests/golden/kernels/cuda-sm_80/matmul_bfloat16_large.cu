// grid (4, 4, 1), block (128, 1, 1); opts: Opt(TC, 2, 1), Opt(UPCAST, 1, 4), Opt(UPCAST, 0, 2), Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 2), Opt(SPLIT, 9, 4), Opt(UNROLL, 10, 0), Opt(STAGE, 9, 0)
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
__device__ inline vec<float, 4> mma_m16n8k16_bf16(vec<bf16, 8> a, vec<bf16, 4> b, vec<float, 4> c) {
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
extern "C" __global__ void __launch_bounds__(128) r_4_4_2_2_2_2_2_2_2_8_2_4_4(float* __restrict__ data0,
    const bf16* __restrict__ data1, const bf16* __restrict__ data2) {
  __shared__ __align__(16) bf16 tile0[4096];
  __shared__ __align__(16) bf16 tile1[4112];
  f32x4 acc0;
  f32x4 acc1;
  f32x4 acc2;
  f32x4 acc3;
  f32x4 acc4;
  f32x4 acc5;
  f32x4 acc6;
  f32x4 acc7;
  int gidx1 = blockIdx.y;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 64;
  int alu1 = alu0 * 512;
  int alu2 = lidx0 % 64;
  int alu3 = gidx1 * 32768 + alu1 + alu2;
  int alu4 = lidx0 / 16;
  int alu5 = lidx0 / 2;
  int alu6 = lidx0 / 8;
  int alu7 = alu6 % 2;
  int alu8 = lidx0 % 2;
  int alu9 = alu4 % 4 * 1024 + alu0 * 64 + alu5 % 4 * 16 + alu7 * 4 + alu8;
  int gidx0 = blockIdx.x;
  int alu10 = gidx0 * 64;
  int alu11 = alu0 * 256 + alu10 + alu2;
  int alu12 = lidx0 / 32 % 2;
  int alu13 = alu12 * 512;
  int alu14 = alu13 + lidx0 % 8 * 64 + alu6 % 4 * 4 + alu0;
  acc0 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu15 = alu4 % 2 * 256;
  int alu16 = alu7 * 128;
  int alu17 = lidx0 / 4;
  int alu18 = alu17 % 2 * 64;
  int alu19 = alu5 % 2 * 32;
  int alu20 = alu8 * 16;
  int alu21 = alu1 + alu15 + alu16 + alu18 + alu19 + alu20;
  int alu22 = alu21 + 3072;
  int alu23 = alu13 + alu15 + alu16 + alu18 + alu19 + alu20;
  int alu24 = alu23 + 3084;
  int alu25 = alu21 + 2048;
  int alu26 = alu23 + 2056;
  int alu27 = alu21 + 1024;
  int alu28 = alu23 + 1028;
  acc1 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu29 = alu23 + 3088;
  int alu30 = alu23 + 1032;
  acc2 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu31 = alu23 + 2064;
  int alu32 = alu23 + 8;
  acc3 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu33 = alu23 + 3096;
  int alu34 = alu23 + 1040;
  acc4 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  int alu35 = alu21 + 3080;
  int alu36 = alu21 + 2056;
  int alu37 = alu21 + 1032;
  int alu38 = alu21 + 8;
  acc5 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  acc6 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  acc7 = f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int ridx9 = 0; ridx9 < 8; ridx9++) {
    int alu39 = alu3 + ridx9 * 64;
    __syncthreads();
    for (int ridx22 = 0; ridx22 < 32; ridx22++) {
      int alu40 = alu9 + ridx22 / 16 * 512 + ridx22 % 4 * 128 + ridx22 / 8 % 2 * 8 + ridx22 / 4 % 2 * 2;
      tile0[alu40] = data1[alu39 + ridx22 * 1024];
    }
    int alu41 = alu11 + ridx9 * 16384;
    for (int ridx23 = 0; ridx23 < 32; ridx23++) {
      tile1[alu14 + ridx23 / 8 * 1028 + ridx23 % 4 * 16 + ridx23 / 4 % 2 * 2] = data2[alu41 + ridx23 * 512];
    }
    __syncthreads();
    bf16x8 val0 = *(bf16x8*)(tile0 + alu22);
    bf16x4 val1 = *(bf16x4*)(tile1 + alu24);
    bf16x8 val2 = *(bf16x8*)(tile0 + alu25);
    bf16x8 val3 = *(bf16x8*)(tile1 + alu26);
    bf16x4 alu42 = bf16x4(val3[0], val3[1], val3[2], val3[3]);
    bf16x8 val4 = *(bf16x8*)(tile0 + alu27);
    bf16x4 val5 = *(bf16x4*)(tile1 + alu28);
    bf16x8 val6 = *(bf16x8*)(tile0 + alu21);
    bf16x8 val7 = *(bf16x8*)(tile1 + alu23);
    bf16x4 alu43 = bf16x4(val7[0], val7[1], val7[2], val7[3]);
    f32x4 wmma0 = mma_m16n8k16_bf16(val6, alu43, acc0);
    f32x4 wmma1 = mma_m16n8k16_bf16(val4, val5, wmma0);
    f32x4 wmma2 = mma_m16n8k16_bf16(val2, alu42, wmma1);
    f32x4 wmma3 = mma_m16n8k16_bf16(val0, val1, wmma2);
    acc0 = wmma3;
    bf16x8 val8 = *(bf16x8*)(tile1 + alu29);
    bf16x4 alu44 = bf16x4(val8[0], val8[1], val8[2], val8[3]);
    bf16x4 alu45 = bf16x4(val3[4], val3[5], val3[6], val3[7]);
    bf16x8 val9 = *(bf16x8*)(tile1 + alu30);
    bf16x4 alu46 = bf16x4(val9[0], val9[1], val9[2], val9[3]);
    bf16x4 alu47 = bf16x4(val7[4], val7[5], val7[6], val7[7]);
    f32x4 wmma4 = mma_m16n8k16_bf16(val6, alu47, acc1);
    f32x4 wmma5 = mma_m16n8k16_bf16(val4, alu46, wmma4);
    f32x4 wmma6 = mma_m16n8k16_bf16(val2, alu45, wmma5);
    f32x4 wmma7 = mma_m16n8k16_bf16(val0, alu44, wmma6);
    acc1 = wmma7;
    bf16x4 alu48 = bf16x4(val8[4], val8[5], val8[6], val8[7]);
    bf16x8 val10 = *(bf16x8*)(tile1 + alu31);
    bf16x4 alu49 = bf16x4(val10[0], val10[1], val10[2], val10[3]);
    bf16x4 alu50 = bf16x4(val9[4], val9[5], val9[6], val9[7]);
    bf16x8 val11 = *(bf16x8*)(tile1 + alu32);
    bf16x4 alu51 = bf16x4(val11[0], val11[1], val11[2], val11[3]);
    f32x4 wmma8 = mma_m16n8k16_bf16(val6, alu51, acc2);
    f32x4 wmma9 = mma_m16n8k16_bf16(val4, alu50, wmma8);
    f32x4 wmma10 = mma_m16n8k16_bf16(val2, alu49, wmma9);
    f32x4 wmma11 = mma_m16n8k16_bf16(val0, alu48, wmma10);
    acc2 = wmma11;
    bf16x4 val12 = *(bf16x4*)(tile1 + alu33);
    bf16x4 alu52 = bf16x4(val10[4], val10[5], val10[6], val10[7]);
    bf16x4 val13 = *(bf16x4*)(tile1 + alu34);
    bf16x4 alu53 = bf16x4(val11[4], val11[5], val11[6], val11[7]);
    f32x4 wmma12 = mma_m16n8k16_bf16(val6, alu53, acc3);
    f32x4 wmma13 = mma_m16n8k16_bf16(val4, val13, wmma12);
    f32x4 wmma14 = mma_m16n8k16_bf16(val2, alu52, wmma13);
    f32x4 wmma15 = mma_m16n8k16_bf16(val0, val12, wmma14);
    acc3 = wmma15;
    bf16x8 val14 = *(bf16x8*)(tile0 + alu35);
    bf16x8 val15 = *(bf16x8*)(tile0 + alu36);
    bf16x8 val16 = *(bf16x8*)(tile0 + alu37);
    bf16x8 val17 = *(bf16x8*)(tile0 + alu38);
    f32x4 wmma16 = mma_m16n8k16_bf16(val17, alu43, acc4);
    f32x4 wmma17 = mma_m16n8k16_bf16(val16, val5, wmma16);
    f32x4 wmma18 = mma_m16n8k16_bf16(val15, alu42, wmma17);
    f32x4 wmma19 = mma_m16n8k16_bf16(val14, val1, wmma18);
    acc4 = wmma19;
    f32x4 wmma20 = mma_m16n8k16_bf16(val17, alu47, acc5);
    f32x4 wmma21 = mma_m16n8k16_bf16(val16, alu46, wmma20);
    f32x4 wmma22 = mma_m16n8k16_bf16(val15, alu45, wmma21);
    f32x4 wmma23 = mma_m16n8k16_bf16(val14, alu44, wmma22);
    acc5 = wmma23;
    f32x4 wmma24 = mma_m16n8k16_bf16(val17, alu51, acc6);
    f32x4 wmma25 = mma_m16n8k16_bf16(val16, alu50, wmma24);
    f32x4 wmma26 = mma_m16n8k16_bf16(val15, alu49, wmma25);
    f32x4 wmma27 = mma_m16n8k16_bf16(val14, alu48, wmma26);
    acc6 = wmma27;
    f32x4 wmma28 = mma_m16n8k16_bf16(val17, alu53, acc7);
    f32x4 wmma29 = mma_m16n8k16_bf16(val16, val13, wmma28);
    f32x4 wmma30 = mma_m16n8k16_bf16(val15, alu52, wmma29);
    f32x4 wmma31 = mma_m16n8k16_bf16(val14, val12, wmma30);
    acc7 = wmma31;
  }
  f32x4 val18 = acc0;
  int alu54 = alu0 * 8192 + alu17 % 8 * 256 + alu12 * 32 + lidx0 % 4 * 2 + alu10;
  int alu55 = alu54 + gidx1 * 16384;
  f32x4 val19 = acc1;
  f32x4 val20 = acc2;
  f32x4 val21 = acc3;
  f32x4 val22 = acc4;
  f32x4 val23 = acc5;
  f32x4 val24 = acc6;
  f32x4 val25 = acc7;
  *(f32x2*)(data0 + alu55) = f32x2(val18[0], val18[1]);
  *(f32x2*)(data0 + alu55 + 8) = f32x2(val19[0], val19[1]);
  *(f32x2*)(data0 + alu55 + 16) = f32x2(val20[0], val20[1]);
  *(f32x2*)(data0 + alu55 + 24) = f32x2(val21[0], val21[1]);
  *(f32x2*)(data0 + alu55 + 2048) = f32x2(val18[2], val18[3]);
  *(f32x2*)(data0 + alu55 + 2056) = f32x2(val19[2], val19[3]);
  *(f32x2*)(data0 + alu55 + 2064) = f32x2(val20[2], val20[3]);
  *(f32x2*)(data0 + alu55 + 2072) = f32x2(val21[2], val21[3]);
  *(f32x2*)(data0 + alu55 + 4096) = f32x2(val22[0], val22[1]);
  *(f32x2*)(data0 + alu55 + 4104) = f32x2(val23[0], val23[1]);
  *(f32x2*)(data0 + alu55 + 4112) = f32x2(val24[0], val24[1]);
  *(f32x2*)(data0 + alu55 + 4120) = f32x2(val25[0], val25[1]);
  *(f32x2*)(data0 + alu55 + 6144) = f32x2(val22[2], val22[3]);
  *(f32x2*)(data0 + alu55 + 6152) = f32x2(val23[2], val23[3]);
  *(f32x2*)(data0 + alu55 + 6160) = f32x2(val24[2], val24[3]);
  *(f32x2*)(data0 + alu55 + 6168) = f32x2(val25[2], val25[3]);
}
