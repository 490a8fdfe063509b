// grid (256, 1, 1), block (256, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(GROUP, 1, 256)
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
extern "C" __global__ void __launch_bounds__(256) r_256_256_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[8];
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  f32x4 val0 = *(const f32x4*)(data1 + gidx0 * 1024 + lidx0 * 4);
  float alu0 = val0[0] + val0[1] + (val0[2] + val0[3]);
  float other0 = other_lane(alu0, 1);
  float alu1 = alu0 + other0;
  float other1 = other_lane(alu1, 2);
  float alu2 = alu1 + other1;
  float other2 = other_lane(alu2, 4);
  float alu3 = alu2 + other2;
  float other3 = other_lane(alu3, 8);
  float alu4 = alu3 + other3;
  float other4 = other_lane(alu4, 16);
  if (lidx0 % 32 < 1) shared0[lidx0 / 32] = alu4 + other4;
  __syncthreads();
  float val1 = shared0[lidx0 % 8];
  float other5 = other_lane(val1, 1);
  float alu5 = val1 + other5;
  float other6 = other_lane(alu5, 2);
  float alu6 = alu5 + other6;
  float other7 = other_lane(alu6, 4);
  if (lidx0 < 1) data0[gidx0] = (alu6 + other7) * 0.5f;
}
