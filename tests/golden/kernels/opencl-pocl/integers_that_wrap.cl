// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global long* restrict data0,
    __global const long* restrict data1, __global const long* restrict data2) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = as_long(as_ulong(data1[lidx0]) * as_ulong(data2[lidx0]) - 1UL);
}
