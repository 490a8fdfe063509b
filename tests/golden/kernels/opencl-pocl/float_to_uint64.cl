// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
static inline ulong u64_from_f64(double x) {
  x = (x >= (-9.223372036854776e18)) & (x < 1.8446744073709552e19) ? x : (-9.223372036854776e18);
  x = x >= 9.223372036854776e18 ? x - 1.8446744073709552e19 : x;
  return (ulong)((long)(x));
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global ulong* restrict data0,
    __global const double* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = u64_from_f64(data1[lidx0]);
}
