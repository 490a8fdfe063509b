// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global uchar* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = data1[lidx0] < data2[lidx0] & (data3[lidx0] != 0.0f);
}
