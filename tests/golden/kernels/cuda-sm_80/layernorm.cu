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
typedef vec<float, 4> f32x4;
extern "C" __global__ void __launch_bounds__(32) r_64_32_32_32_4_4_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[32];
  __shared__ __align__(16) float shared1[4];
  __shared__ __align__(16) float shared2[32];
  __shared__ __align__(16) float shared3[4];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 128 + lidx0 * 4;
  f32x4 val0 = *(const f32x4*)(data1 + alu0);
  shared0[lidx0] = val0[0] + val0[1] + (val0[2] + val0[3]);
  __syncthreads();
  acc0 = 0.0f;
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc0 = acc0 + shared0[alu2 + ridx4];
  }
  bool alu3 = lidx0 % 8 < 1;
  if (alu3) shared1[alu1] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  for (int ridx5 = 0; ridx5 < 4; ridx5++) {
    acc1 = acc1 + shared1[ridx5];
  }
  float alu4 = acc1 / 128.0f;
  float alu5 = val0[0] - alu4;
  float alu6 = val0[1] - alu4;
  float alu7 = val0[2] - alu4;
  float alu8 = val0[3] - alu4;
  shared2[lidx0] = alu5 * alu5 + alu6 * alu6 + (alu7 * alu7 + alu8 * alu8);
  __syncthreads();
  acc2 = 0.0f;
  for (int ridx6 = 0; ridx6 < 8; ridx6++) {
    acc2 = acc2 + shared2[alu2 + ridx6];
  }
  if (alu3) shared3[alu1] = acc2;
  __syncthreads();
  acc3 = 0.0f;
  for (int ridx7 = 0; ridx7 < 4; ridx7++) {
    acc3 = acc3 + shared3[ridx7];
  }
  float alu9 = 1.0f / sqrtf(acc3 / 128.0f + 1.0e-5f);
  *(f32x4*)(data0 + alu0) = f32x4(alu5 * alu9, alu6 * alu9, alu7 * alu9, alu8 * alu9);
}
