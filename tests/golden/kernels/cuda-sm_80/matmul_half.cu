// grid (4, 1, 1), block (256, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 256)
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
typedef vec<f16, 4> f16x4;
typedef vec<float, 4> f32x4;
extern "C" __global__ void __launch_bounds__(256) E_4_256_4(float* __restrict__ data0,
    const f16* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 1024 + lidx0 * 4;
  f16x4 val0 = *(const f16x4*)(data1 + alu0);
  *(f32x4*)(data0 + alu0) = f32x4((float)(val0[0]), (float)(val0[1]), (float)(val0[2]), (float)(val0[3]));
}

// grid (4, 1, 1), block (256, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 256)
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
typedef vec<f16, 4> f16x4;
typedef vec<float, 4> f32x4;
extern "C" __global__ void __launch_bounds__(256) E_4_256_4(float* __restrict__ data0,
    const f16* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 1024 + lidx0 * 4;
  f16x4 val0 = *(const f16x4*)(data1 + alu0);
  *(f32x4*)(data0 + alu0) = f32x4((float)(val0[0]), (float)(val0[1]), (float)(val0[2]), (float)(val0[3]));
}

// grid None, block (16, 16, 1); opts: Opt(UPCAST, 1, 4), Opt(UPCAST, 0, 4), Opt(LOCAL, 1, 16), Opt(LOCAL, 0, 16), Opt(SPLIT, 2, 16), Opt(UNROLL, 3, 4), Opt(STAGE, 2, 0)
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
extern "C" __global__ void __launch_bounds__(256) r_16_16_4_4_4_4_4(f16* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  __shared__ __align__(16) float tile0[1088];
  __shared__ __align__(16) float tile1[1024];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  float acc8;
  float acc9;
  float acc10;
  float acc11;
  float acc12;
  float acc13;
  float acc14;
  float acc15;
  int lidx1 = threadIdx.y;
  int lidx0 = threadIdx.x;
  int alu0 = lidx1 * 64 + lidx0;
  int alu1 = lidx0 * 68 + lidx1;
  int alu2 = lidx1 * 16;
  int alu3 = alu2 + lidx0;
  int alu4 = lidx0 + alu2;
  acc0 = 0.0f;
  int alu5 = lidx1 * 4;
  int alu6 = lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  acc8 = 0.0f;
  acc9 = 0.0f;
  acc10 = 0.0f;
  acc11 = 0.0f;
  acc12 = 0.0f;
  acc13 = 0.0f;
  acc14 = 0.0f;
  acc15 = 0.0f;
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    int alu7 = alu0 + ridx2 * 16;
    __syncthreads();
    for (int ridx7 = 0; ridx7 < 4; ridx7++) {
      tile0[alu1 + ridx7 * 16] = data1[alu7 + ridx7 * 1024];
    }
    int alu8 = alu3 + ridx2 * 1024;
    for (int ridx8 = 0; ridx8 < 4; ridx8++) {
      int alu9 = ridx8 * 256;
      tile1[alu4 + alu9] = data2[alu8 + alu9];
    }
    __syncthreads();
    for (int ridx3 = 0; ridx3 < 4; ridx3++) {
      int alu10 = alu5 + ridx3 * 272;
      float val0 = tile0[alu10 + 204];
      int alu11 = alu6 + ridx3 * 256;
      float val1 = tile1[alu11 + 192];
      float val2 = tile0[alu10 + 136];
      float val3 = tile1[alu11 + 128];
      float val4 = tile0[alu10 + 68];
      float val5 = tile1[alu11 + 64];
      float val6 = tile0[alu10];
      float val7 = tile1[alu11];
      acc0 = fmaf(val0, val1, fmaf(val2, val3, fmaf(val4, val5, fmaf(val6, val7, acc0))));
      float val8 = tile1[alu11 + 193];
      float val9 = tile1[alu11 + 129];
      float val10 = tile1[alu11 + 65];
      float val11 = tile1[alu11 + 1];
      acc1 = fmaf(val0, val8, fmaf(val2, val9, fmaf(val4, val10, fmaf(val6, val11, acc1))));
      float val12 = tile1[alu11 + 194];
      float val13 = tile1[alu11 + 130];
      float val14 = tile1[alu11 + 66];
      float val15 = tile1[alu11 + 2];
      acc2 = fmaf(val0, val12, fmaf(val2, val13, fmaf(val4, val14, fmaf(val6, val15, acc2))));
      float val16 = tile1[alu11 + 195];
      float val17 = tile1[alu11 + 131];
      float val18 = tile1[alu11 + 67];
      float val19 = tile1[alu11 + 3];
      acc3 = fmaf(val0, val16, fmaf(val2, val17, fmaf(val4, val18, fmaf(val6, val19, acc3))));
      float val20 = tile0[alu10 + 205];
      float val21 = tile0[alu10 + 137];
      float val22 = tile0[alu10 + 69];
      float val23 = tile0[alu10 + 1];
      acc4 = fmaf(val20, val1, fmaf(val21, val3, fmaf(val22, val5, fmaf(val23, val7, acc4))));
      acc5 = fmaf(val20, val8, fmaf(val21, val9, fmaf(val22, val10, fmaf(val23, val11, acc5))));
      acc6 = fmaf(val20, val12, fmaf(val21, val13, fmaf(val22, val14, fmaf(val23, val15, acc6))));
      acc7 = fmaf(val20, val16, fmaf(val21, val17, fmaf(val22, val18, fmaf(val23, val19, acc7))));
      float val24 = tile0[alu10 + 206];
      float val25 = tile0[alu10 + 138];
      float val26 = tile0[alu10 + 70];
      float val27 = tile0[alu10 + 2];
      acc8 = fmaf(val24, val1, fmaf(val25, val3, fmaf(val26, val5, fmaf(val27, val7, acc8))));
      acc9 = fmaf(val24, val8, fmaf(val25, val9, fmaf(val26, val10, fmaf(val27, val11, acc9))));
      float alu12 = fmaf(val25, val13, fmaf(val26, val14, fmaf(val27, val15, acc10)));
      acc10 = fmaf(val24, val12, alu12);
      float alu13 = fmaf(val25, val17, fmaf(val26, val18, fmaf(val27, val19, acc11)));
      acc11 = fmaf(val24, val16, alu13);
      float val28 = tile0[alu10 + 207];
      float val29 = tile0[alu10 + 139];
      float val30 = tile0[alu10 + 71];
      float val31 = tile0[alu10 + 3];
      acc12 = fmaf(val28, val1, fmaf(val29, val3, fmaf(val30, val5, fmaf(val31, val7, acc12))));
      acc13 = fmaf(val28, val8, fmaf(val29, val9, fmaf(val30, val10, fmaf(val31, val11, acc13))));
      float alu14 = fmaf(val29, val13, fmaf(val30, val14, fmaf(val31, val15, acc14)));
      acc14 = fmaf(val28, val12, alu14);
      float alu15 = fmaf(val29, val17, fmaf(val30, val18, fmaf(val31, val19, acc15)));
      acc15 = fmaf(val28, val16, alu15);
    }
  }
  int alu16 = alu6 + lidx1 * 256;
  data0[alu16] = (f16)(acc0);
  data0[alu16 + 1] = (f16)(acc1);
  data0[alu16 + 2] = (f16)(acc2);
  data0[alu16 + 3] = (f16)(acc3);
  data0[alu16 + 64] = (f16)(acc4);
  data0[alu16 + 65] = (f16)(acc5);
  data0[alu16 + 66] = (f16)(acc6);
  data0[alu16 + 67] = (f16)(acc7);
  data0[alu16 + 128] = (f16)(acc8);
  data0[alu16 + 129] = (f16)(acc9);
  data0[alu16 + 130] = (f16)(acc10);
  data0[alu16 + 131] = (f16)(acc11);
  data0[alu16 + 192] = (f16)(acc12);
  data0[alu16 + 193] = (f16)(acc13);
  data0[alu16 + 194] = (f16)(acc14);
  data0[alu16 + 195] = (f16)(acc15);
}
