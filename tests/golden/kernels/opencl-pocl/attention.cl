// opts: Opt(GROUP, 7, 8), Opt(GROUP, 2, 8)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(8, 1,
    1))) void r_2_4_4_4_4_8_8_4_4_4_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2, __global const float* restrict data3) {
  __local float shared0[8];
  float row2[4] __attribute__((aligned(64)));
  float acc3;
  float acc4;
  float row1[4] __attribute__((aligned(64)));
  float acc5;
  float row0[4] __attribute__((aligned(64)));
  float acc6;
  int gidx1 = get_group_id(1);
  int alu0 = gidx1 * 32;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu1 = alu0 + gidx0 * 8 + lidx0;
  float val0 = data1[alu1];
  for (int ridx4 = 0; ridx4 < 4; ridx4++) {
    float val1 = data2[alu0 + ridx4 * 8 + lidx0];
    barrier(CLK_LOCAL_MEM_FENCE);
    shared0[lidx0] = val0 * val1;
    barrier(CLK_LOCAL_MEM_FENCE);
    acc3 = 0.0f;
    for (int ridx10 = 0; ridx10 < 8; ridx10++) {
      acc3 = acc3 + shared0[ridx10];
    }
    row2[ridx4] = acc3 / 2.828427f;
  }
  acc4 = (-INFINITY);
  for (int ridx8 = 0; ridx8 < 4; ridx8++) {
    acc4 = max_f32(acc4, row2[ridx8]);
  }
  float val2 = acc4;
  uint cast0 = as_uint(12582912.0f);
  for (int ridx3 = 0; ridx3 < 4; ridx3++) {
    float alu2 = row2[ridx3] - val2;
    float alu3 = alu2 * 1.442695f;
    float alu4 = (alu3 < (-154.0f)) ? (-154.0f) : alu3;
    float alu5 = (154.0f < alu4) ? 154.0f : alu4;
    float alu6 = alu5 + 12582912.0f;
    float alu7 = alu5 - (alu6 - 12582912.0f);
    float alu8 = fma(fma(0.00015475962f, alu7, 0.0013399613f), alu7, 0.009618006f);
    float alu9 = fma(fma(fma(alu8, alu7, 0.0555033f), alu7, 0.2402265f), alu7, 0.6931472f);
    uint alu10 = as_uint(alu6) - cast0;
    int alu11 = as_int(alu10) >> 1;
    float alu12 = fma(alu7, alu9,
        1.0f) * as_float((alu11 + 127) << 23) * as_float(as_int(alu10 - as_uint(alu11) + 127u) << 23);
    float alu13 = fma(alu2, 1.925963e-8f, fma(alu2, 1.442695f, -alu3));
    row1[ridx3] = alu12 * ((alu13 * alu13 < 1.0f) ? fma(alu13, 0.6931472f, 1.0f) : 1.0f);
  }
  acc5 = 0.0f;
  for (int ridx9 = 0; ridx9 < 4; ridx9++) {
    acc5 = acc5 + row1[ridx9];
  }
  float val3 = acc5;
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    row0[ridx2] = row1[ridx2] / val3;
  }
  acc6 = 0.0f;
  int alu14 = alu0 + lidx0;
  for (int ridx7 = 0; ridx7 < 4; ridx7++) {
    acc6 = fma(row0[ridx7], data3[alu14 + ridx7 * 8], acc6);
  }
  data0[alu1] = acc6;
}
