// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_6_(__global float* restrict data0, __global const float* restrict data1) {
  int gidx0 = get_global_id(0);
  bool alu0 = !(gidx0 < 1) & (gidx0 < 4);
  data0[gidx0] = alu0 ? (alu0 ? data1[gidx0 + (-1)] : 0.0f) + 1.0f : 0.0f;
}
