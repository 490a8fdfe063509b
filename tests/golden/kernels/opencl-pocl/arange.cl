// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_6_(__global int* restrict data0) {
  int gidx0 = get_global_id(0);
  data0[gidx0] = gidx0 * 2;
}
