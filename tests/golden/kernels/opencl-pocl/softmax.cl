// opts: Opt(GROUP, 2, 8), Opt(GROUP, 1, 8), Opt(GROUP, 3, 8), Opt(GROUP, 4, 8)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_3_8_8_8_8_(__global float* restrict data0,
    __global const float* restrict data1) {
  __local float shared0[8];
  __local float shared1[8];
  __local float shared2[8];
  float acc0;
  float acc1;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 8 + lidx0;
  float val0 = data1[alu0];
  shared1[lidx0] = val0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc0 = (-INFINITY);
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc0 = max_f32(acc0, shared1[ridx5]);
  }
  float alu1 = val0 - acc0;
  float alu2 = alu1 * 1.442695f;
  float alu3 = (alu2 < (-154.0f)) ? (-154.0f) : alu2;
  float alu4 = (154.0f < alu3) ? 154.0f : alu3;
  float alu5 = alu4 + 12582912.0f;
  float alu6 = alu4 - (alu5 - 12582912.0f);
  float alu7 = fma(fma(0.00015475962f, alu6, 0.0013399613f), alu6, 0.009618006f);
  float alu8 = fma(fma(fma(alu7, alu6, 0.0555033f), alu6, 0.2402265f), alu6, 0.6931472f);
  uint alu9 = as_uint(alu5) - as_uint(12582912.0f);
  int alu10 = as_int(alu9) >> 1;
  float alu11 = fma(alu6, alu8,
      1.0f) * as_float((alu10 + 127) << 23) * as_float(as_int(alu9 - as_uint(alu10) + 127u) << 23);
  float alu12 = fma(alu1, 1.925963e-8f, fma(alu1, 1.442695f, -alu2));
  shared0[lidx0] = alu11 * ((alu12 * alu12 < 1.0f) ? fma(alu12, 0.6931472f, 1.0f) : 1.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  float val1 = shared0[lidx0];
  shared2[lidx0] = val1;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = 0.0f;
  for (int ridx6 = 0; ridx6 < 8; ridx6++) {
    acc1 = acc1 + shared2[ridx6];
  }
  data0[alu0] = val1 / acc1;
}
