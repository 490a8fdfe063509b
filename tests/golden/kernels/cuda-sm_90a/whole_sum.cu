// grid None, block (256, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(GROUP, 0, 256)
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
extern "C" __global__ void __launch_bounds__(256) r_256_64_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[256];
  __shared__ __align__(16) float shared1[16];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  acc0 = 0.0f;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx1 = 0; ridx1 < 64; ridx1++) {
    f32x4 val0 = *(const f32x4*)(data1 + alu0 + ridx1 * 1024);
    acc0 = acc0 + val0[0];
    acc1 = acc1 + val0[1];
    acc2 = acc2 + val0[2];
    acc3 = acc3 + val0[3];
  }
  shared0[lidx0] = acc0 + acc1 + (acc2 + acc3);
  __syncthreads();
  acc4 = 0.0f;
  int alu1 = lidx0 / 16;
  int alu2 = alu1 * 16;
  for (int ridx2 = 0; ridx2 < 16; ridx2++) {
    acc4 = acc4 + shared0[alu2 + ridx2];
  }
  if (lidx0 % 16 < 1) shared1[alu1] = acc4;
  __syncthreads();
  acc5 = 0.0f;
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc5 = acc5 + shared1[ridx3];
  }
  if (lidx0 < 1) data0[0] = acc5;
}
