// grid None, group (6, 1, 1); opts: Opt(LOCAL, 0, 6)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(6, 1, 1))) void E_6_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = data1[lidx0] * 2.0f;
}

// grid None, group (2, 1, 1); opts: Opt(LOCAL, 0, 2)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(2, 1, 1))) void E_2_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0 + 1] = data1[lidx0];
}
