// grid None, group (16, 2, 1); opts: Opt(LOCAL, 1, 16), Opt(LOCAL, 0, 2)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(16, 2,
    1))) void r_2_16_32_16_16_16_16_32_16_16_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  float row2[16] __attribute__((aligned(64)));
  float acc3;
  float acc4;
  float row1[16] __attribute__((aligned(64)));
  float acc5;
  float row0[16] __attribute__((aligned(64)));
  float acc6;
  int lidx1 = get_local_id(1);
  int alu0 = lidx1 * 512;
  int lidx0 = get_local_id(0);
  int alu1 = alu0 + lidx0 * 32;
  for (int ridx5 = 0; ridx5 < 16; ridx5++) {
    acc3 = 0.0f;
    int alu2 = alu0 + ridx5 * 32;
    for (int ridx7 = 0; ridx7 < 32; ridx7++) {
      acc3 = fma(data1[alu1 + ridx7], data2[alu2 + ridx7], acc3);
    }
    row2[ridx5] = acc3 / 5.656854f;
  }
  acc4 = (-INFINITY);
  for (int ridx8 = 0; ridx8 < 16; ridx8++) {
    acc4 = max_f32(acc4, row2[ridx8]);
  }
  float val0 = acc4;
  uint cast0 = as_uint(12582912.0f);
  for (int ridx4 = 0; ridx4 < 16; ridx4++) {
    float alu3 = row2[ridx4] - val0;
    float alu4 = alu3 * 1.442695f;
    float alu5 = (alu4 < (-154.0f)) ? (-154.0f) : alu4;
    float alu6 = (154.0f < alu5) ? 154.0f : alu5;
    float alu7 = alu6 + 12582912.0f;
    float alu8 = alu6 - (alu7 - 12582912.0f);
    float alu9 = fma(fma(0.00015475962f, alu8, 0.0013399613f), alu8, 0.009618006f);
    float alu10 = fma(fma(fma(alu9, alu8, 0.0555033f), alu8, 0.2402265f), alu8, 0.6931472f);
    uint alu11 = as_uint(alu7) - cast0;
    int alu12 = as_int(alu11) >> 1;
    float alu13 = fma(alu8, alu10, 1.0f) * as_float((int)((uint)(alu12 + 127) << 23u));
    float cast1 = as_float((int)((uint)as_int(alu11 - as_uint(alu12) + 127u) << 23u));
    float alu14 = fma(alu3, 1.925963e-8f, fma(alu3, 1.442695f, -alu4));
    row1[ridx4] = alu13 * cast1 * ((alu14 * alu14 < 1.0f) ? fma(alu14, 0.6931472f, 1.0f) : 1.0f);
  }
  acc5 = 0.0f;
  for (int ridx9 = 0; ridx9 < 16; ridx9++) {
    acc5 = acc5 + row1[ridx9];
  }
  float val1 = acc5;
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    row0[ridx3] = row1[ridx3] / val1;
  }
  for (int ridx2 = 0; ridx2 < 32; ridx2++) {
    acc6 = 0.0f;
    int alu15 = alu0 + ridx2;
    for (int ridx6 = 0; ridx6 < 16; ridx6++) {
      acc6 = fma(row0[ridx6], data3[alu15 + ridx6 * 32], acc6);
    }
    data0[alu1 + ridx2] = acc6;
  }
}
