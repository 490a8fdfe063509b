// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(VECTOR, 3, 4), Opt(VECTOR, 4, 4), Opt(GROUP, 2, 32), Opt(GROUP, 1, 32), Opt(GROUP, 3, 32), Opt(GROUP, 4, 32)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(32, 1,
    1))) void r_64_32_32_32_32_4_4_4_4_(__global float* restrict data0,
    __global const float* restrict data1) {
  __local float shared0[32];
  __local float shared1[4];
  __local float shared2[32];
  __local float shared3[4];
  float acc1;
  float acc2;
  float row0[4] __attribute__((aligned(64)));
  float acc3;
  float acc4;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 128 + lidx0 * 4;
  float4 val0 = vload4(0, data1 + alu0);
  shared0[lidx0] = max_f32(max_f32(val0.s0, val0.s1), max_f32(val0.s2, val0.s3));
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = (-INFINITY);
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc1 = max_f32(acc1, shared0[alu2 + ridx5]);
  }
  bool alu3 = lidx0 % 8 < 1;
  if (alu3) shared1[alu1] = acc1;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc2 = (-INFINITY);
  for (int ridx6 = 0; ridx6 < 4; ridx6++) {
    acc2 = max_f32(acc2, shared1[ridx6]);
  }
  float val1 = acc2;
  float alu4 = val0.s0 - val1;
  float alu5 = alu4 * 1.442695f;
  float alu6 = (alu5 < (-154.0f)) ? (-154.0f) : alu5;
  float alu7 = (154.0f < alu6) ? 154.0f : alu6;
  float alu8 = alu7 + 12582912.0f;
  float alu9 = alu7 - (alu8 - 12582912.0f);
  float alu10 = fma(fma(0.00015475962f, alu9, 0.0013399613f), alu9, 0.009618006f);
  float alu11 = fma(fma(fma(alu10, alu9, 0.0555033f), alu9, 0.2402265f), alu9, 0.6931472f);
  uint cast0 = as_uint(12582912.0f);
  uint alu12 = as_uint(alu8) - cast0;
  int alu13 = as_int(alu12) >> 1;
  float alu14 = fma(alu9, alu11, 1.0f) * as_float((int)((uint)(alu13 + 127) << 23u));
  float cast1 = as_float((int)((uint)as_int(alu12 - as_uint(alu13) + 127u) << 23u));
  float alu15 = fma(alu4, 1.925963e-8f, fma(alu4, 1.442695f, -alu5));
  row0[0] = alu14 * cast1 * ((alu15 * alu15 < 1.0f) ? fma(alu15, 0.6931472f, 1.0f) : 1.0f);
  float alu16 = val0.s1 - val1;
  float alu17 = alu16 * 1.442695f;
  float alu18 = (alu17 < (-154.0f)) ? (-154.0f) : alu17;
  float alu19 = (154.0f < alu18) ? 154.0f : alu18;
  float alu20 = alu19 + 12582912.0f;
  float alu21 = alu19 - (alu20 - 12582912.0f);
  float alu22 = fma(fma(0.00015475962f, alu21, 0.0013399613f), alu21, 0.009618006f);
  float alu23 = fma(fma(fma(alu22, alu21, 0.0555033f), alu21, 0.2402265f), alu21, 0.6931472f);
  uint alu24 = as_uint(alu20) - cast0;
  int alu25 = as_int(alu24) >> 1;
  float alu26 = fma(alu21, alu23, 1.0f) * as_float((int)((uint)(alu25 + 127) << 23u));
  float cast2 = as_float((int)((uint)as_int(alu24 - as_uint(alu25) + 127u) << 23u));
  float alu27 = fma(alu16, 1.925963e-8f, fma(alu16, 1.442695f, -alu17));
  row0[1] = alu26 * cast2 * ((alu27 * alu27 < 1.0f) ? fma(alu27, 0.6931472f, 1.0f) : 1.0f);
  float alu28 = val0.s2 - val1;
  float alu29 = alu28 * 1.442695f;
  float alu30 = (alu29 < (-154.0f)) ? (-154.0f) : alu29;
  float alu31 = (154.0f < alu30) ? 154.0f : alu30;
  float alu32 = alu31 + 12582912.0f;
  float alu33 = alu31 - (alu32 - 12582912.0f);
  float alu34 = fma(fma(0.00015475962f, alu33, 0.0013399613f), alu33, 0.009618006f);
  float alu35 = fma(fma(fma(alu34, alu33, 0.0555033f), alu33, 0.2402265f), alu33, 0.6931472f);
  uint alu36 = as_uint(alu32) - cast0;
  int alu37 = as_int(alu36) >> 1;
  float alu38 = fma(alu33, alu35, 1.0f) * as_float((int)((uint)(alu37 + 127) << 23u));
  float cast3 = as_float((int)((uint)as_int(alu36 - as_uint(alu37) + 127u) << 23u));
  float alu39 = fma(alu28, 1.925963e-8f, fma(alu28, 1.442695f, -alu29));
  row0[2] = alu38 * cast3 * ((alu39 * alu39 < 1.0f) ? fma(alu39, 0.6931472f, 1.0f) : 1.0f);
  float alu40 = val0.s3 - val1;
  float alu41 = alu40 * 1.442695f;
  float alu42 = (alu41 < (-154.0f)) ? (-154.0f) : alu41;
  float alu43 = (154.0f < alu42) ? 154.0f : alu42;
  float alu44 = alu43 + 12582912.0f;
  float alu45 = alu43 - (alu44 - 12582912.0f);
  float alu46 = fma(fma(0.00015475962f, alu45, 0.0013399613f), alu45, 0.009618006f);
  float alu47 = fma(fma(fma(alu46, alu45, 0.0555033f), alu45, 0.2402265f), alu45, 0.6931472f);
  uint alu48 = as_uint(alu44) - cast0;
  int alu49 = as_int(alu48) >> 1;
  float alu50 = fma(alu45, alu47, 1.0f) * as_float((int)((uint)(alu49 + 127) << 23u));
  float cast4 = as_float((int)((uint)as_int(alu48 - as_uint(alu49) + 127u) << 23u));
  float alu51 = fma(alu40, 1.925963e-8f, fma(alu40, 1.442695f, -alu41));
  row0[3] = alu50 * cast4 * ((alu51 * alu51 < 1.0f) ? fma(alu51, 0.6931472f, 1.0f) : 1.0f);
  float val2 = row0[0];
  float val3 = row0[1];
  float val4 = row0[2];
  float val5 = row0[3];
  shared2[lidx0] = val2 + val3 + (val4 + val5);
  barrier(CLK_LOCAL_MEM_FENCE);
  acc3 = 0.0f;
  for (int ridx7 = 0; ridx7 < 8; ridx7++) {
    acc3 = acc3 + shared2[alu2 + ridx7];
  }
  if (alu3) shared3[alu1] = acc3;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc4 = 0.0f;
  for (int ridx8 = 0; ridx8 < 4; ridx8++) {
    acc4 = acc4 + shared3[ridx8];
  }
  float val6 = acc4;
  vstore4((float4)(val2 / val6, val3 / val6, val4 / val6, val5 / val6), 0, data0 + alu0);
}
