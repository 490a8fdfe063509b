// grid None, group (12, 1, 1); opts: Opt(LOCAL, 0, 12)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(12, 1, 1))) void E_12_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = sqrt(data1[lidx0] * data2[lidx0] + 1.0f);
}
