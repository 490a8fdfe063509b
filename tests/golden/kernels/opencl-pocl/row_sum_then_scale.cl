// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void r_3_4_(__global float* restrict data0, __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int gidx0 = get_global_id(0);
  int alu0 = gidx0 * 4;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[gidx0] = acc0 * 0.5f;
}
