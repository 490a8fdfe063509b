// grid None, block (32, 1, 1); opts: Opt(VECTOR, 0, 2), Opt(LOCAL, 0, 32)
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
typedef vec<double, 2> f64x2;
typedef vec<unsigned long long, 2> u64x2;
__device__ inline unsigned long long u64_from_f64(double x) {
  x = (x >= (-9.223372036854776e18)) & (x < 1.8446744073709552e19) ? x : (-9.223372036854776e18);
  x = x >= 9.223372036854776e18 ? x - 1.8446744073709552e19 : x;
  return (unsigned long long)((long long)(x));
}
extern "C" __global__ void __launch_bounds__(32) E_32_2(unsigned long long* __restrict__ data0,
    const double* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 * 2;
  f64x2 val0 = *(const f64x2*)(data1 + alu0);
  *(u64x2*)(data0 + alu0) = u64x2(u64_from_f64(val0[0]), u64_from_f64(val0[1]));
}
