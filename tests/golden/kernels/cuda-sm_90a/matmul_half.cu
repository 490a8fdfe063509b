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
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
typedef vec<float, 4> f32x4;
typedef vec<f16, 4> f16x4;
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
      f32x4 val0 = *(f32x4*)(tile0 + alu10 + 204);
      int alu11 = alu6 + ridx3 * 256;
      f32x4 val1 = *(f32x4*)(tile1 + alu11 + 192);
      f32x4 val2 = *(f32x4*)(tile0 + alu10 + 136);
      f32x4 val3 = *(f32x4*)(tile1 + alu11 + 128);
      f32x4 val4 = *(f32x4*)(tile0 + alu10 + 68);
      f32x4 val5 = *(f32x4*)(tile1 + alu11 + 64);
      f32x4 val6 = *(f32x4*)(tile0 + alu10);
      f32x4 val7 = *(f32x4*)(tile1 + alu11);
      float alu12 = fmaf(val2[0], val3[0], fmaf(val4[0], val5[0], fmaf(val6[0], val7[0], acc0)));
      acc0 = fmaf(val0[0], val1[0], alu12);
      float alu13 = fmaf(val2[0], val3[1], fmaf(val4[0], val5[1], fmaf(val6[0], val7[1], acc1)));
      acc1 = fmaf(val0[0], val1[1], alu13);
      float alu14 = fmaf(val2[0], val3[2], fmaf(val4[0], val5[2], fmaf(val6[0], val7[2], acc2)));
      acc2 = fmaf(val0[0], val1[2], alu14);
      float alu15 = fmaf(val2[0], val3[3], fmaf(val4[0], val5[3], fmaf(val6[0], val7[3], acc3)));
      acc3 = fmaf(val0[0], val1[3], alu15);
      float alu16 = fmaf(val2[1], val3[0], fmaf(val4[1], val5[0], fmaf(val6[1], val7[0], acc4)));
      acc4 = fmaf(val0[1], val1[0], alu16);
      float alu17 = fmaf(val2[1], val3[1], fmaf(val4[1], val5[1], fmaf(val6[1], val7[1], acc5)));
      acc5 = fmaf(val0[1], val1[1], alu17);
      float alu18 = fmaf(val2[1], val3[2], fmaf(val4[1], val5[2], fmaf(val6[1], val7[2], acc6)));
      acc6 = fmaf(val0[1], val1[2], alu18);
      float alu19 = fmaf(val2[1], val3[3], fmaf(val4[1], val5[3], fmaf(val6[1], val7[3], acc7)));
      acc7 = fmaf(val0[1], val1[3], alu19);
      float alu20 = fmaf(val2[2], val3[0], fmaf(val4[2], val5[0], fmaf(val6[2], val7[0], acc8)));
      acc8 = fmaf(val0[2], val1[0], alu20);
      float alu21 = fmaf(val2[2], val3[1], fmaf(val4[2], val5[1], fmaf(val6[2], val7[1], acc9)));
      acc9 = fmaf(val0[2], val1[1], alu21);
      float alu22 = fmaf(val2[2], val3[2], fmaf(val4[2], val5[2], fmaf(val6[2], val7[2], acc10)));
      acc10 = fmaf(val0[2], val1[2], alu22);
      float alu23 = fmaf(val2[2], val3[3], fmaf(val4[2], val5[3], fmaf(val6[2], val7[3], acc11)));
      acc11 = fmaf(val0[2], val1[3], alu23);
      float alu24 = fmaf(val2[3], val3[0], fmaf(val4[3], val5[0], fmaf(val6[3], val7[0], acc12)));
      acc12 = fmaf(val0[3], val1[0], alu24);
      float alu25 = fmaf(val2[3], val3[1], fmaf(val4[3], val5[1], fmaf(val6[3], val7[1], acc13)));
      acc13 = fmaf(val0[3], val1[1], alu25);
      float alu26 = fmaf(val2[3], val3[2], fmaf(val4[3], val5[2], fmaf(val6[3], val7[2], acc14)));
      acc14 = fmaf(val0[3], val1[2], alu26);
      float alu27 = fmaf(val2[3], val3[3], fmaf(val4[3], val5[3], fmaf(val6[3], val7[3], acc15)));
      acc15 = fmaf(val0[3], val1[3], alu27);
    }
  }
  int alu28 = alu6 + lidx1 * 256;
  *(f16x4*)(data0 + alu28) = f16x4((f16)(acc0), (f16)(acc1), (f16)(acc2), (f16)(acc3));
  *(f16x4*)(data0 + alu28 + 64) = f16x4((f16)(acc4), (f16)(acc5), (f16)(acc6), (f16)(acc7));
  *(f16x4*)(data0 + alu28 + 128) = f16x4((f16)(acc8), (f16)(acc9), (f16)(acc10), (f16)(acc11));
  *(f16x4*)(data0 + alu28 + 192) = f16x4((f16)(acc12), (f16)(acc13), (f16)(acc14), (f16)(acc15));
}
