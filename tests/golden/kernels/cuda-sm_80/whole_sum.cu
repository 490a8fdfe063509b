// grid (128, 1, 1), block (64, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(GROUP, 1, 64)
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
extern "C" __global__ void __launch_bounds__(64) r_128_64_2_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[64];
  __shared__ __align__(16) float shared1[8];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 512 + lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    f32x4 val0 = *(const f32x4*)(data1 + alu0 + ridx2 * 256);
    acc0 = acc0 + val0[0];
    acc1 = acc1 + val0[1];
    acc2 = acc2 + val0[2];
    acc3 = acc3 + val0[3];
  }
  shared0[lidx0] = acc0 + acc1 + (acc2 + acc3);
  __syncthreads();
  acc4 = 0.0f;
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx3 = 0; ridx3 < 8; ridx3++) {
    acc4 = acc4 + shared0[alu2 + ridx3];
  }
  if (lidx0 % 8 < 1) shared1[alu1] = acc4;
  __syncthreads();
  acc5 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc5 = acc5 + shared1[ridx4];
  }
  if (lidx0 < 1) data0[gidx0] = acc5;
}

// grid None, block (32, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(GROUP, 0, 32)
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
extern "C" __global__ void __launch_bounds__(32) r_32_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[32];
  __shared__ __align__(16) float shared1[4];
  float acc0;
  float acc1;
  int lidx0 = threadIdx.x;
  f32x4 val0 = *(const f32x4*)(data1 + lidx0 * 4);
  shared0[lidx0] = val0[0] + val0[1] + (val0[2] + val0[3]);
  __syncthreads();
  acc0 = 0.0f;
  int alu0 = lidx0 / 8;
  int alu1 = alu0 * 8;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    acc0 = acc0 + shared0[alu1 + ridx1];
  }
  if (lidx0 % 8 < 1) shared1[alu0] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    acc1 = acc1 + shared1[ridx2];
  }
  if (lidx0 < 1) data0[0] = acc1;
}
