// grid None, block (64, 1, 1); opts: Opt(LOCAL, 0, 64)
__device__ inline unsigned long long u64_from_f64(double x) {
  x = (x >= (-9.223372036854776e18)) & (x < 1.8446744073709552e19) ? x : (-9.223372036854776e18);
  x = x >= 9.223372036854776e18 ? x - 1.8446744073709552e19 : x;
  return (unsigned long long)((long long)(x));
}
extern "C" __global__ void __launch_bounds__(64) E_64(unsigned long long* __restrict__ data0,
    const double* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  data0[lidx0] = u64_from_f64(data1[lidx0]);
}
