// grid (1024, 1, 1), block (256, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 256)
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
extern "C" __global__ void __launch_bounds__(256) E_1024_256_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 1024 + lidx0 * 4;
  f32x4 val0 = *(const f32x4*)(data1 + alu0);
  f32x4 val1 = *(const f32x4*)(data2 + alu0);
  f32x4 alu1 = f32x4(val0[0] + val1[0] * 2.0f, val0[1] + val1[1] * 2.0f, val0[2] + val1[2] * 2.0f,
      val0[3] + val1[3] * 2.0f);
  *(f32x4*)(data0 + alu0) = alu1;
}
