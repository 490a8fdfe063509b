// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_3_4_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2) {
  int gidx1 = get_global_id(1);
  int gidx0 = get_global_id(0);
  int alu0 = gidx1 * 4 + gidx0;
  data0[alu0] = data1[alu0] + data2[gidx1 + gidx0 * 3];
}
