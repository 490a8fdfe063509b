// opts: none
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel void r_4_6_5_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2, __global const float* restrict data3) {
  float acc0;
  acc0 = 0.0f;
  int gidx1 = get_global_id(1);
  int alu0 = gidx1 * 5;
  int gidx0 = get_global_id(0);
  for (int ridx2 = 0; ridx2 < 5; ridx2++) {
    acc0 = fma(data1[alu0 + ridx2], data2[gidx0 + ridx2 * 6], acc0);
  }
  data0[gidx1 * 6 + gidx0] = max_f32(acc0 + data3[gidx0], 0.0f);
}
