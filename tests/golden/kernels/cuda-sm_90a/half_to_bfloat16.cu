// grid None, block (32, 1, 1); opts: Opt(VECTOR, 0, 8), Opt(LOCAL, 0, 32)
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
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
typedef vec<f16, 8> f16x8;
typedef vec<bf16, 8> bf16x8;
extern "C" __global__ void __launch_bounds__(32) E_32_8(bf16* __restrict__ data0,
    const f16* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 * 8;
  f16x8 val0 = *(const f16x8*)(data1 + alu0);
  bf16x8 alu1 = bf16x8((bf16)((float)(val0[0] * ((f16)2.0f))), (bf16)((float)(val0[1] * ((f16)2.0f))),
      (bf16)((float)(val0[2] * ((f16)2.0f))), (bf16)((float)(val0[3] * ((f16)2.0f))),
      (bf16)((float)(val0[4] * ((f16)2.0f))), (bf16)((float)(val0[5] * ((f16)2.0f))),
      (bf16)((float)(val0[6] * ((f16)2.0f))), (bf16)((float)(val0[7] * ((f16)2.0f))));
  *(bf16x8*)(data0 + alu0) = alu1;
}
