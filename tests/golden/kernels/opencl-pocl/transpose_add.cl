// grid (8, 1, 1), group (32, 8, 1); opts: Opt(LOCAL, 1, 32), Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(32, 8, 1))) void E_8_8_32_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  int gidx0 = get_group_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = gidx0 * 8 + lidx1;
  int lidx0 = get_local_id(0);
  int alu1 = alu0 * 32 + lidx0;
  data0[alu1] = data1[alu1] + data2[alu0 + lidx0 * 64];
}
