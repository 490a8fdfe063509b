// opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel void E_3_4_(__global float* restrict data0, __global const int* restrict data1,
    __global const float* restrict data2) {
  int gidx0 = get_global_id(0);
  int gidx1 = get_global_id(1);
  int val0 = data1[gidx1];
  int alu0 = (val0 < 0) ? as_int(as_uint(val0) + 5u) : val0;
  data0[gidx1 * 4 + gidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[as_int(as_uint(gidx0) + as_uint(alu0) * 4u)] : 0.0f;
}
