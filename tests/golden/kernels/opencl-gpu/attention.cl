// grid (2, 1, 1), group (16, 16, 1); opts: Opt(LOCAL, 2, 16), Opt(LOCAL, 1, 16), Opt(SPLIT, 3, 16), Opt(UNROLL, 4, 4), Opt(STAGE, 3, 0)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(16, 16,
    1))) void r_2_16_16_2_4_4_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2) {
  __local float tile0[288];
  __local float tile1[288];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx0 = get_group_id(0);
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 512 + lidx1 * 32 + lidx0;
  int alu1 = lidx0 * 18 + lidx1;
  acc0 = 0.0f;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    int alu2 = alu0 + ridx3 * 16;
    float val0 = data1[alu2];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile0[alu1] = val0;
    tile1[alu1] = data2[alu2];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int ridx4 = 0; ridx4 < 4; ridx4++) {
      int alu3 = ridx4 * 72;
      int alu4 = lidx1 + alu3;
      int alu5 = lidx0 + alu3;
      acc0 = fma(tile0[alu4], tile1[alu5], acc0);
      acc1 = fma(tile0[alu4 + 18], tile1[alu5 + 18], acc1);
      acc2 = fma(tile0[alu4 + 36], tile1[alu5 + 36], acc2);
      acc3 = fma(tile0[alu4 + 54], tile1[alu5 + 54], acc3);
    }
  }
  data0[gidx0 * 256 + lidx0 + lidx1 * 16] = (acc0 + acc1 + (acc2 + acc3)) / 5.656854f;
}

// grid (32, 1, 1), group (8, 1, 1); opts: Opt(GROUP, 1, 8), Opt(GROUP, 3, 8), Opt(GROUP, 5, 8)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_32_2_8_8_8_2_2_(__global float* restrict data0,
    __global const float* restrict data1) {
  __local float shared0[8];
  __local float shared1[8];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = (-INFINITY);
  int gidx0 = get_group_id(0);
  int alu0 = gidx0 * 16;
  int lidx0 = get_local_id(0);
  for (int ridx5 = 0; ridx5 < 2; ridx5++) {
    acc0 = max_f32(acc0, data1[alu0 + (ridx5 * 8 + lidx0)]);
  }
  shared0[lidx0] = acc0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = (-INFINITY);
  for (int ridx7 = 0; ridx7 < 8; ridx7++) {
    acc1 = max_f32(acc1, shared0[ridx7]);
  }
  acc2 = 0.0f;
  float val0 = acc1;
  uint cast0 = as_uint(12582912.0f);
  for (int ridx6 = 0; ridx6 < 2; ridx6++) {
    float alu1 = data1[alu0 + (ridx6 * 8 + lidx0)] - val0;
    float alu2 = alu1 * 1.442695f;
    float alu3 = (alu2 < (-154.0f)) ? (-154.0f) : alu2;
    float alu4 = (154.0f < alu3) ? 154.0f : alu3;
    float alu5 = alu4 + 12582912.0f;
    float alu6 = alu4 - (alu5 - 12582912.0f);
    float alu7 = fma(fma(0.00015475962f, alu6, 0.0013399613f), alu6, 0.009618006f);
    float alu8 = fma(fma(fma(alu7, alu6, 0.0555033f), alu6, 0.2402265f), alu6, 0.6931472f);
    uint alu9 = as_uint(alu5) - cast0;
    int alu10 = as_int(alu9) >> 1;
    float alu11 = fma(alu6, alu8,
        1.0f) * as_float((alu10 + 127) << 23) * as_float(as_int(alu9 - as_uint(alu10) + 127u) << 23);
    float alu12 = fma(alu1, 1.925963e-8f, fma(alu1, 1.442695f, -alu2));
    acc2 = fma(alu11, (alu12 * alu12 < 1.0f) ? fma(alu12, 0.6931472f, 1.0f) : 1.0f, acc2);
  }
  shared1[lidx0] = acc2;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc3 = 0.0f;
  for (int ridx8 = 0; ridx8 < 8; ridx8++) {
    acc3 = acc3 + shared1[ridx8];
  }
  float val1 = acc3;
  for (int ridx1 = 0; ridx1 < 2; ridx1++) {
    int alu13 = alu0 + (ridx1 * 8 + lidx0);
    float alu14 = data1[alu13] - val0;
    float alu15 = alu14 * 1.442695f;
    float alu16 = (alu15 < (-154.0f)) ? (-154.0f) : alu15;
    float alu17 = (154.0f < alu16) ? 154.0f : alu16;
    float alu18 = alu17 + 12582912.0f;
    float alu19 = alu17 - (alu18 - 12582912.0f);
    float alu20 = fma(fma(0.00015475962f, alu19, 0.0013399613f), alu19, 0.009618006f);
    float alu21 = fma(fma(fma(alu20, alu19, 0.0555033f), alu19, 0.2402265f), alu19, 0.6931472f);
    uint alu22 = as_uint(alu18) - cast0;
    int alu23 = as_int(alu22) >> 1;
    float alu24 = fma(alu19, alu21,
        1.0f) * as_float((alu23 + 127) << 23) * as_float(as_int(alu22 - as_uint(alu23) + 127u) << 23);
    float alu25 = fma(alu14, 1.925963e-8f, fma(alu14, 1.442695f, -alu15));
    float alu26 = alu24 * ((alu25 * alu25 < 1.0f) ? fma(alu25, 0.6931472f, 1.0f) : 1.0f);
    data0[alu13] = alu26 / val1;
  }
}

// grid (4, 2, 2), group (8, 8, 1); opts: Opt(LOCAL, 2, 8), Opt(LOCAL, 1, 8), Opt(SPLIT, 5, 8), Opt(UNROLL, 6, 4), Opt(STAGE, 5, 0)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(8, 8,
    1))) void r_2_2_4_8_8_2_2_4_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2) {
  __local float tile0[64];
  __local float tile1[64];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx2 = get_group_id(2);
  int gidx1 = get_group_id(1);
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  int alu0 = gidx2 * 256 + gidx1 * 128 + lidx1 * 16 + lidx0;
  int alu1 = lidx0 * 8 + lidx1;
  int alu2 = gidx2 * 512;
  int alu3 = lidx1 * 32;
  int gidx0 = get_group_id(0);
  int alu4 = gidx0 * 8;
  int alu5 = alu2 + alu3 + alu4 + lidx0;
  int alu6 = lidx0 + lidx1 * 8;
  acc0 = 0.0f;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx5 = 0; ridx5 < 2; ridx5++) {
    float val0 = data1[alu0 + ridx5 * 8];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile0[alu1] = val0;
    tile1[alu6] = data2[alu5 + ridx5 * 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int ridx6 = 0; ridx6 < 2; ridx6++) {
      int alu7 = ridx6 * 32;
      int alu8 = lidx1 + alu7;
      int alu9 = lidx0 + alu7;
      acc0 = fma(tile0[alu8], tile1[alu9], acc0);
      acc1 = fma(tile0[alu8 + 8], tile1[alu9 + 8], acc1);
      acc2 = fma(tile0[alu8 + 16], tile1[alu9 + 16], acc2);
      acc3 = fma(tile0[alu8 + 24], tile1[alu9 + 24], acc3);
    }
  }
  data0[alu4 + gidx1 * 256 + alu2 + lidx0 + alu3] = acc0 + acc1 + (acc2 + acc3);
}
