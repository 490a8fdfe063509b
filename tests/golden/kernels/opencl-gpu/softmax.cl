// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(GROUP, 1, 32), Opt(GROUP, 2, 32), Opt(GROUP, 3, 32)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(32, 1,
    1))) void r_64_32_32_32_4_4_4_(__global float* restrict data0, __global const float* restrict data1) {
  __local float shared0[32];
  __local float shared1[4];
  __local float shared2[32];
  __local float shared3[4];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 128 + lidx0 * 4;
  float4 val0 = vload4(0, data1 + alu0);
  shared0[lidx0] = max_f32(max_f32(val0.s0, val0.s1), max_f32(val0.s2, val0.s3));
  barrier(CLK_LOCAL_MEM_FENCE);
  acc0 = (-INFINITY);
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc0 = max_f32(acc0, shared0[alu2 + ridx4]);
  }
  bool alu3 = lidx0 % 8 < 1;
  if (alu3) shared1[alu1] = acc0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = (-INFINITY);
  for (int ridx5 = 0; ridx5 < 4; ridx5++) {
    acc1 = max_f32(acc1, shared1[ridx5]);
  }
  float val1 = acc1;
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
  float alu14 = fma(alu9, alu11,
      1.0f) * as_float((alu13 + 127) << 23) * as_float(as_int(alu12 - as_uint(alu13) + 127u) << 23);
  float alu15 = fma(alu4, 1.925963e-8f, fma(alu4, 1.442695f, -alu5));
  float alu16 = alu14 * ((alu15 * alu15 < 1.0f) ? fma(alu15, 0.6931472f, 1.0f) : 1.0f);
  float alu17 = val0.s1 - val1;
  float alu18 = alu17 * 1.442695f;
  float alu19 = (alu18 < (-154.0f)) ? (-154.0f) : alu18;
  float alu20 = (154.0f < alu19) ? 154.0f : alu19;
  float alu21 = alu20 + 12582912.0f;
  float alu22 = alu20 - (alu21 - 12582912.0f);
  float alu23 = fma(fma(0.00015475962f, alu22, 0.0013399613f), alu22, 0.009618006f);
  float alu24 = fma(fma(fma(alu23, alu22, 0.0555033f), alu22, 0.2402265f), alu22, 0.6931472f);
  uint alu25 = as_uint(alu21) - cast0;
  int alu26 = as_int(alu25) >> 1;
  float alu27 = fma(alu22, alu24,
      1.0f) * as_float((alu26 + 127) << 23) * as_float(as_int(alu25 - as_uint(alu26) + 127u) << 23);
  float alu28 = fma(alu17, 1.925963e-8f, fma(alu17, 1.442695f, -alu18));
  float alu29 = alu27 * ((alu28 * alu28 < 1.0f) ? fma(alu28, 0.6931472f, 1.0f) : 1.0f);
  float alu30 = val0.s2 - val1;
  float alu31 = alu30 * 1.442695f;
  float alu32 = (alu31 < (-154.0f)) ? (-154.0f) : alu31;
  float alu33 = (154.0f < alu32) ? 154.0f : alu32;
  float alu34 = alu33 + 12582912.0f;
  float alu35 = alu33 - (alu34 - 12582912.0f);
  float alu36 = fma(fma(0.00015475962f, alu35, 0.0013399613f), alu35, 0.009618006f);
  float alu37 = fma(fma(fma(alu36, alu35, 0.0555033f), alu35, 0.2402265f), alu35, 0.6931472f);
  uint alu38 = as_uint(alu34) - cast0;
  int alu39 = as_int(alu38) >> 1;
  float alu40 = fma(alu35, alu37,
      1.0f) * as_float((alu39 + 127) << 23) * as_float(as_int(alu38 - as_uint(alu39) + 127u) << 23);
  float alu41 = fma(alu30, 1.925963e-8f, fma(alu30, 1.442695f, -alu31));
  float alu42 = alu40 * ((alu41 * alu41 < 1.0f) ? fma(alu41, 0.6931472f, 1.0f) : 1.0f);
  float alu43 = val0.s3 - val1;
  float alu44 = alu43 * 1.442695f;
  float alu45 = (alu44 < (-154.0f)) ? (-154.0f) : alu44;
  float alu46 = (154.0f < alu45) ? 154.0f : alu45;
  float alu47 = alu46 + 12582912.0f;
  float alu48 = alu46 - (alu47 - 12582912.0f);
  float alu49 = fma(fma(0.00015475962f, alu48, 0.0013399613f), alu48, 0.009618006f);
  float alu50 = fma(fma(fma(alu49, alu48, 0.0555033f), alu48, 0.2402265f), alu48, 0.6931472f);
  uint alu51 = as_uint(alu47) - cast0;
  int alu52 = as_int(alu51) >> 1;
  float alu53 = fma(alu48, alu50,
      1.0f) * as_float((alu52 + 127) << 23) * as_float(as_int(alu51 - as_uint(alu52) + 127u) << 23);
  float alu54 = fma(alu43, 1.925963e-8f, fma(alu43, 1.442695f, -alu44));
  float alu55 = alu53 * ((alu54 * alu54 < 1.0f) ? fma(alu54, 0.6931472f, 1.0f) : 1.0f);
  shared2[lidx0] = alu16 + alu29 + (alu42 + alu55);
  barrier(CLK_LOCAL_MEM_FENCE);
  acc2 = 0.0f;
  for (int ridx6 = 0; ridx6 < 8; ridx6++) {
    acc2 = acc2 + shared2[alu2 + ridx6];
  }
  if (alu3) shared3[alu1] = acc2;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc3 = 0.0f;
  for (int ridx7 = 0; ridx7 < 4; ridx7++) {
    acc3 = acc3 + shared3[ridx7];
  }
  float val2 = acc3;
  vstore4((float4)(alu16 / val2, alu29 / val2, alu42 / val2, alu55 / val2), 0, data0 + alu0);
}
