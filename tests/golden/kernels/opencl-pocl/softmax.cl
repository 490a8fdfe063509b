// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(64, 1,
    1))) void r_64_128_128_128_128_(__global float* restrict data0, __global const float* restrict data1) {
  float acc1;
  float row0[128] __attribute__((aligned(64)));
  float acc2;
  acc1 = (-INFINITY);
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 128;
  for (int ridx3 = 0; ridx3 < 128; ridx3++) {
    acc1 = max_f32(acc1, data1[alu0 + ridx3]);
  }
  float val0 = acc1;
  uint cast0 = as_uint(12582912.0f);
  for (int ridx2 = 0; ridx2 < 128; ridx2++) {
    float alu1 = data1[alu0 + ridx2] - val0;
    float alu2 = alu1 * 1.442695f;
    float alu3 = (alu2 < (-154.0f)) ? (-154.0f) : alu2;
    float alu4 = (154.0f < alu3) ? 154.0f : alu3;
    float alu5 = alu4 + 12582912.0f;
    float alu6 = alu4 - (alu5 - 12582912.0f);
    float alu7 = fma(fma(0.00015475962f, alu6, 0.0013399613f), alu6, 0.009618006f);
    float alu8 = fma(fma(fma(alu7, alu6, 0.0555033f), alu6, 0.2402265f), alu6, 0.6931472f);
    uint alu9 = as_uint(alu5) - cast0;
    int alu10 = as_int(alu9) >> 1;
    float alu11 = fma(alu6, alu8, 1.0f) * as_float((int)((uint)(alu10 + 127) << 23u));
    float cast1 = as_float((int)((uint)as_int(alu9 - as_uint(alu10) + 127u) << 23u));
    float alu12 = fma(alu1, 1.925963e-8f, fma(alu1, 1.442695f, -alu2));
    row0[ridx2] = alu11 * cast1 * ((alu12 * alu12 < 1.0f) ? fma(alu12, 0.6931472f, 1.0f) : 1.0f);
  }
  acc2 = 0.0f;
  for (int ridx4 = 0; ridx4 < 128; ridx4++) {
    acc2 = acc2 + row0[ridx4];
  }
  float val1 = acc2;
  for (int ridx1 = 0; ridx1 < 128; ridx1++) {
    data0[alu0 + ridx1] = row0[ridx1] / val1;
  }
}
