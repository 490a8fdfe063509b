// grid (16, 1, 1), block (256, 1, 1); opts: Opt(LOCAL, 0, 256)
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
extern "C" __global__ void __launch_bounds__(256) E_16_256(float* __restrict__ data0,
    const f16* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 256 + lidx0;
  data0[alu0] = (float)(data1[alu0]);
}

// grid (16, 1, 1), block (256, 1, 1); opts: Opt(LOCAL, 0, 256)
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
extern "C" __global__ void __launch_bounds__(256) E_16_256(float* __restrict__ data0,
    const f16* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 256 + lidx0;
  data0[alu0] = (float)(data1[alu0]);
}

// grid (64, 1, 1), block (64, 1, 1); opts: Opt(LOCAL, 1, 64)
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
extern "C" __global__ void __launch_bounds__(64) r_64_64_64(f16* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  float acc0;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 64;
  int lidx0 = threadIdx.x;
  for (int ridx2 = 0; ridx2 < 64; ridx2++) {
    acc0 = fmaf(data1[alu0 + ridx2], data2[lidx0 + ridx2 * 64], acc0);
  }
  data0[alu0 + lidx0] = (f16)(acc0);
}
