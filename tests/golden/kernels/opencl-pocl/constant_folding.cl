// grid None, group (4, 1, 1); opts: Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void E_4_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = data1[lidx0] + 0.0f;
}

// grid None, group (4, 1, 1); opts: Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void E_4_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = data1[lidx0] * 2.0f * 3.0f;
}
