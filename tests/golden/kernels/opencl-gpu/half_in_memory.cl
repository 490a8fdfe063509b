// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global float* restrict data0,
    __global const half* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = (float)(data1[lidx0] * ((half)2.0f));
}
