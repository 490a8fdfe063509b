// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_6_(__global float* restrict data0, __global const float* restrict data1) {
  int gidx0 = get_global_id(0);
  data0[gidx0] = data1[gidx0] * 2.0f;
}

// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_2_(__global float* restrict data0, __global const float* restrict data1) {
  int gidx0 = get_global_id(0);
  data0[gidx0 + 1] = data1[gidx0];
}
