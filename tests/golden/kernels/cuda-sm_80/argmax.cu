// grid (64, 1, 1), block (32, 1, 1); opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(PADTO, 2, 32), Opt(GROUP, 2, 32), Opt(PADTO, 2, 32), Opt(GROUP, 2, 32)
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
__device__ inline int larger(int a, int b) {
  int larger;
  asm("{.reg .u32 x, y; xor.b32 x, %1, 0x80000000; xor.b32 y, %2, 0x80000000; "
      "max.u32 x, x, y; xor.b32 %0, x, 0x80000000;}" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
typedef vec<float, 4> f32x4;
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(32) r_64_32_32_4_4(int* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  bool alu0 = lidx0 < 25;
  int gidx0 = blockIdx.x;
  int alu1 = lidx0 * 4;
  f32x4 val0 = alu0 ? *(const f32x4*)(data1 + gidx0 * 100 + alu1) : f32x4(0.0f, 0.0f, 0.0f, 0.0f);
  float alu2 = max_f32(alu0 ? val0[0] : (-__int_as_float(0x7f800000)),
      alu0 ? val0[1] : (-__int_as_float(0x7f800000)));
  float alu3 = max_f32(alu0 ? val0[2] : (-__int_as_float(0x7f800000)),
      alu0 ? val0[3] : (-__int_as_float(0x7f800000)));
  float alu4 = max_f32(alu2, alu3);
  float other0 = other_lane(alu4, 1);
  float alu5 = max_f32(alu4, other0);
  float other1 = other_lane(alu5, 2);
  float alu6 = max_f32(alu5, other1);
  float other2 = other_lane(alu6, 4);
  float alu7 = max_f32(alu6, other2);
  float other3 = other_lane(alu7, 8);
  float alu8 = max_f32(alu7, other3);
  float other4 = other_lane(alu8, 16);
  float alu9 = max_f32(alu8, other4);
  int alu10 = (val0[0] == alu9 | (val0[0] != val0[0])) ? (alu1 ^ (-1)) : (-2147483647 - 1);
  int alu11 = (val0[1] == alu9 | (val0[1] != val0[1])) ? (alu1 + 1 ^ (-1)) : (-2147483647 - 1);
  int alu12 = larger(alu0 ? alu10 : (-2147483647 - 1), alu0 ? alu11 : (-2147483647 - 1));
  int alu13 = (val0[2] == alu9 | (val0[2] != val0[2])) ? (alu1 + 2 ^ (-1)) : (-2147483647 - 1);
  int alu14 = (val0[3] == alu9 | (val0[3] != val0[3])) ? (alu1 + 3 ^ (-1)) : (-2147483647 - 1);
  int alu15 = larger(alu0 ? alu13 : (-2147483647 - 1), alu0 ? alu14 : (-2147483647 - 1));
  int alu16 = larger(alu12, alu15);
  int other5 = other_lane(alu16, 1);
  int alu17 = larger(alu16, other5);
  int other6 = other_lane(alu17, 2);
  int alu18 = larger(alu17, other6);
  int other7 = other_lane(alu18, 4);
  int alu19 = larger(alu18, other7);
  int other8 = other_lane(alu19, 8);
  int alu20 = larger(alu19, other8);
  int other9 = other_lane(alu20, 16);
  if (lidx0 < 1) data0[gidx0] = larger(alu20, other9) ^ (-1);
}
