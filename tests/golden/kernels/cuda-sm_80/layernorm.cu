// grid (64, 1, 1), block (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(GROUP, 1, 32), Opt(GROUP, 2, 32), Opt(GROUP, 3, 32)
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
typedef vec<float, 4> f32x4;
extern "C" __global__ void __launch_bounds__(32) r_64_32_32_32_4_4_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 128 + lidx0 * 4;
  f32x4 val0 = *(const f32x4*)(data1 + alu0);
  float alu1 = val0[0] + val0[1] + (val0[2] + val0[3]);
  float other0 = other_lane(alu1, 1);
  float alu2 = alu1 + other0;
  float other1 = other_lane(alu2, 2);
  float alu3 = alu2 + other1;
  float other2 = other_lane(alu3, 4);
  float alu4 = alu3 + other2;
  float other3 = other_lane(alu4, 8);
  float alu5 = alu4 + other3;
  float other4 = other_lane(alu5, 16);
  float alu6 = (alu5 + other4) / 128.0f;
  float alu7 = val0[0] - alu6;
  float alu8 = val0[1] - alu6;
  float alu9 = val0[2] - alu6;
  float alu10 = val0[3] - alu6;
  float alu11 = alu7 * alu7 + alu8 * alu8 + (alu9 * alu9 + alu10 * alu10);
  float other5 = other_lane(alu11, 1);
  float alu12 = alu11 + other5;
  float other6 = other_lane(alu12, 2);
  float alu13 = alu12 + other6;
  float other7 = other_lane(alu13, 4);
  float alu14 = alu13 + other7;
  float other8 = other_lane(alu14, 8);
  float alu15 = alu14 + other8;
  float other9 = other_lane(alu15, 16);
  float alu16 = 1.0f / sqrtf((alu15 + other9) / 128.0f + 1.0e-5f);
  *(f32x4*)(data0 + alu0) = f32x4(alu7 * alu16, alu8 * alu16, alu9 * alu16, alu10 * alu16);
}
