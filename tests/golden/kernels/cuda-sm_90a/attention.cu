// grid (2, 1, 1), block (16, 1, 1); opts: Opt(LOCAL, 1, 16)
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__device__ inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
__device__ inline float bits_i32_f32(int x) {
  union { int from; float to; } u = { x };
  return u.to;
}
extern "C" __global__ void __launch_bounds__(16) r_2_16_32_16_16_16_16_32_16_16(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  float row2[16] __attribute__((aligned(64)));
  float acc3;
  float acc4;
  float row1[16] __attribute__((aligned(64)));
  float acc5;
  float row0[16] __attribute__((aligned(64)));
  float acc6;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 512;
  int lidx0 = threadIdx.x;
  int alu1 = alu0 + lidx0 * 32;
  for (int ridx5 = 0; ridx5 < 16; ridx5++) {
    acc3 = 0.0f;
    int alu2 = alu0 + ridx5 * 32;
    for (int ridx7 = 0; ridx7 < 32; ridx7++) {
      acc3 = fmaf(data1[alu1 + ridx7], data2[alu2 + ridx7], acc3);
    }
    row2[ridx5] = acc3 / 5.656854f;
  }
  acc4 = (-__int_as_float(0x7f800000));
  for (int ridx8 = 0; ridx8 < 16; ridx8++) {
    acc4 = max_f32(acc4, row2[ridx8]);
  }
  float val0 = acc4;
  int cast0 = bits_f32_i32(12582912.0f);
  for (int ridx4 = 0; ridx4 < 16; ridx4++) {
    float alu3 = row2[ridx4] - val0;
    float alu4 = alu3 * 1.442695f;
    float alu5 = (alu4 < (-154.0f)) ? (-154.0f) : alu4;
    float alu6 = (154.0f < alu5) ? 154.0f : alu5;
    float alu7 = alu6 + 12582912.0f;
    float alu8 = alu6 - (alu7 - 12582912.0f);
    float alu9 = fmaf(fmaf(0.00015475962f, alu8, 0.0013399613f), alu8, 0.009618006f);
    float alu10 = fmaf(fmaf(fmaf(alu9, alu8, 0.0555033f), alu8, 0.2402265f), alu8, 0.6931472f);
    int alu11 = bits_f32_i32(alu7) - cast0;
    int alu12 = alu11 >> 1;
    float alu13 = fmaf(alu8, alu10,
        1.0f) * bits_i32_f32((alu12 + 127) << 23) * bits_i32_f32((alu11 - alu12 + 127) << 23);
    float alu14 = fmaf(alu3, 1.925963e-8f, fmaf(alu3, 1.442695f, -alu4));
    row1[ridx4] = alu13 * ((alu14 * alu14 < 1.0f) ? fmaf(alu14, 0.6931472f, 1.0f) : 1.0f);
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
      acc6 = fmaf(row0[ridx6], data3[alu15 + ridx6 * 32], acc6);
    }
    data0[alu1 + ridx2] = acc6;
  }
}
