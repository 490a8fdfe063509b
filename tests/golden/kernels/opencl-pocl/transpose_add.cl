// opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 3, 1))) void E_3_4_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  int alu0 = lidx1 * 4 + lidx0;
  data0[alu0] = data1[alu0] + data2[lidx1 + lidx0 * 3];
}
