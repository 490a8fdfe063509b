// grid (16, 2, 1), group (16, 1, 1); opts: Opt(GROUP, 7, 16), Opt(GROUP, 2, 16), Opt(GROUP, 4, 16), Opt(GROUP, 3, 16), Opt(GROUP, 10, 16), Opt(GROUP, 11, 16)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(16, 1,
    1))) void r_2_16_2_16_16_16_16_16_16_16_16_2_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  __local float shared0[16];
  __local float shared1[16];
  __local float shared2[16];
  __local float shared3[16];
  float row2[16] __attribute__((aligned(64)));
  float acc3;
  float acc4;
  float acc5;
  float acc1;
  float acc6;
  float acc7;
  int gidx1 = get_group_id(1);
  int alu0 = gidx1 * 512;
  int gidx0 = get_group_id(0);
  int alu1 = alu0 + gidx0 * 32;
  int lidx0 = get_local_id(0);
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc3 = 0.0f;
    int alu2 = alu0 + ridx3 * 32;
    for (int ridx11 = 0; ridx11 < 2; ridx11++) {
      int alu3 = ridx11 * 16 + lidx0;
      acc3 = fma(data1[alu1 + alu3], data2[alu2 + alu3], acc3);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    shared1[lidx0] = acc3;
    barrier(CLK_LOCAL_MEM_FENCE);
    acc4 = 0.0f;
    for (int ridx12 = 0; ridx12 < 16; ridx12++) {
      acc4 = acc4 + shared1[ridx12];
    }
    row2[ridx3] = acc4 / 5.656854f;
  }
  float val0 = row2[lidx0];
  shared2[lidx0] = val0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc5 = (-INFINITY);
  for (int ridx13 = 0; ridx13 < 16; ridx13++) {
    acc5 = max_f32(acc5, shared2[ridx13]);
  }
  float alu4 = val0 - acc5;
  float alu5 = alu4 * 1.442695f;
  float alu6 = (alu5 < (-154.0f)) ? (-154.0f) : alu5;
  float alu7 = (154.0f < alu6) ? 154.0f : alu6;
  float alu8 = alu7 + 12582912.0f;
  float alu9 = alu7 - (alu8 - 12582912.0f);
  float alu10 = fma(fma(0.00015475962f, alu9, 0.0013399613f), alu9, 0.009618006f);
  float alu11 = fma(fma(fma(alu10, alu9, 0.0555033f), alu9, 0.2402265f), alu9, 0.6931472f);
  uint alu12 = as_uint(alu8) - as_uint(12582912.0f);
  int alu13 = as_int(alu12) >> 1;
  float alu14 = fma(alu9, alu11, 1.0f) * as_float((int)((uint)(alu13 + 127) << 23u));
  float cast0 = as_float((int)((uint)as_int(alu12 - as_uint(alu13) + 127u) << 23u));
  float alu15 = fma(alu4, 1.925963e-8f, fma(alu4, 1.442695f, -alu5));
  acc1 = alu14 * cast0 * ((alu15 * alu15 < 1.0f) ? fma(alu15, 0.6931472f, 1.0f) : 1.0f);
  float val1 = acc1;
  shared3[lidx0] = val1;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc6 = 0.0f;
  for (int ridx14 = 0; ridx14 < 16; ridx14++) {
    acc6 = acc6 + shared3[ridx14];
  }
  shared0[lidx0] = val1 / acc6;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    acc7 = 0.0f;
    int alu16 = ridx2 * 16 + lidx0;
    int alu17 = alu0 + alu16;
    for (int ridx10 = 0; ridx10 < 16; ridx10++) {
      acc7 = fma(shared0[ridx10], data3[alu17 + ridx10 * 32], acc7);
    }
    data0[alu1 + alu16] = acc7;
  }
}
