// grid (32, 1, 1), group (32, 1, 1); opts: Opt(LOCAL, 1, 32), Opt(UPCAST, 0, 2), Opt(UNROLL, 2, 4)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void r_32_32_12_2_4_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int alu0 = gidx0 * 96;
  int lidx0 = get_local_id(0);
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  for (int ridx2 = 0; ridx2 < 12; ridx2++) {
    int alu1 = alu0 + ridx2 * 4;
    float4 val0 = vload4(0, data1 + alu1);
    int alu2 = lidx0 + ridx2 * 128;
    float val1 = data2[alu2];
    acc0 = fma(val0.s0, val1, acc0);
    float val2 = data2[alu2 + 32];
    acc1 = fma(val0.s1, val2, acc1);
    float val3 = data2[alu2 + 64];
    acc2 = fma(val0.s2, val3, acc2);
    float val4 = data2[alu2 + 96];
    acc3 = fma(val0.s3, val4, acc3);
    float4 val5 = vload4(0, data1 + alu1 + 48);
    acc4 = fma(val5.s0, val1, acc4);
    acc5 = fma(val5.s1, val2, acc5);
    acc6 = fma(val5.s2, val3, acc6);
    acc7 = fma(val5.s3, val4, acc7);
  }
  float val6 = data3[lidx0];
  int alu3 = gidx0 * 64 + lidx0;
  data0[alu3] = max_f32(acc0 + acc1 + (acc2 + acc3) + val6, 0.0f);
  data0[alu3 + 32] = max_f32(acc4 + acc5 + (acc6 + acc7) + val6, 0.0f);
}
