// opts: Opt(PADTO, 1, 8), Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 4), Opt(UNROLL, 2, 0)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void r_4_8_5_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  int lidx1 = get_local_id(1);
  int alu0 = lidx1 * 5;
  float4 val0 = vload4(0, data1 + alu0);
  int lidx0 = get_local_id(0);
  bool alu1 = lidx0 < 6;
  float alu2 = val0.s0 * (alu1 ? data2[lidx0] : 0.0f) + val0.s1 * (alu1 ? data2[lidx0 + 6] : 0.0f);
  float alu3 = val0.s2 * (alu1 ? data2[lidx0 + 12] : 0.0f) + val0.s3 * (alu1 ? data2[lidx0 + 18] : 0.0f);
  float alu4 = alu2 + alu3 + data1[alu0 + 4] * (alu1 ? data2[lidx0 + 24] : 0.0f);
  if (alu1) data0[lidx0 + lidx1 * 6] = max_f32(alu4 + (alu1 ? data3[lidx0] : 0.0f), 0.0f);
}
