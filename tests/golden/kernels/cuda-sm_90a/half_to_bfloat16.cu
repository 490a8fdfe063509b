// grid None, block (256, 1, 1); opts: Opt(LOCAL, 0, 256)
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
extern "C" __global__ void __launch_bounds__(256) E_256(bf16* __restrict__ data0,
    const f16* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  data0[lidx0] = (bf16)((float)(data1[lidx0] * ((f16)2.0f)));
}
