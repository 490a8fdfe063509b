// grid (16, 2, 1), block (16, 1, 1); opts: Opt(GROUP, 7, 16), Opt(GROUP, 2, 16), Opt(GROUP, 4, 16), Opt(GROUP, 3, 16), Opt(GROUP, 10, 16), Opt(GROUP, 11, 16)
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
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
extern "C" __global__ void __launch_bounds__(16) r_2_16_2_16_16_16_16_16_16_16_16_2(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  __shared__ __align__(16) float shared0[16];
  float row2[16] __attribute__((aligned(64)));
  float acc3;
  float acc1;
  float acc4;
  int gidx1 = blockIdx.y;
  int alu0 = gidx1 * 512;
  int gidx0 = blockIdx.x;
  int alu1 = alu0 + gidx0 * 32;
  int lidx0 = threadIdx.x;
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc3 = 0.0f;
    int alu2 = alu0 + ridx3 * 32;
    for (int ridx11 = 0; ridx11 < 2; ridx11++) {
      int alu3 = ridx11 * 16 + lidx0;
      acc3 = fmaf(data1[alu1 + alu3], data2[alu2 + alu3], acc3);
    }
    float val0 = acc3;
    float other0 = other_lane(val0, 1);
    float alu4 = val0 + other0;
    float other1 = other_lane(alu4, 2);
    float alu5 = alu4 + other1;
    float other2 = other_lane(alu5, 4);
    float alu6 = alu5 + other2;
    float other3 = other_lane(alu6, 8);
    row2[ridx3] = (alu6 + other3) / 5.656854f;
  }
  float val1 = row2[lidx0];
  float other4 = other_lane(val1, 1);
  float alu7 = max_f32(val1, other4);
  float other5 = other_lane(alu7, 2);
  float alu8 = max_f32(alu7, other5);
  float other6 = other_lane(alu8, 4);
  float alu9 = max_f32(alu8, other6);
  float other7 = other_lane(alu9, 8);
  float alu10 = val1 - max_f32(alu9, other7);
  float alu11 = alu10 * 1.442695f;
  float alu12 = (alu11 < (-154.0f)) ? (-154.0f) : alu11;
  float alu13 = (154.0f < alu12) ? 154.0f : alu12;
  float alu14 = alu13 + 12582912.0f;
  float alu15 = alu13 - (alu14 - 12582912.0f);
  float alu16 = fmaf(fmaf(0.00015475962f, alu15, 0.0013399613f), alu15, 0.009618006f);
  float alu17 = fmaf(fmaf(fmaf(alu16, alu15, 0.0555033f), alu15, 0.2402265f), alu15, 0.6931472f);
  int alu18 = (int)((unsigned int)bits_f32_i32(alu14) - (unsigned int)bits_f32_i32(12582912.0f));
  int alu19 = alu18 >> 1;
  float alu20 = fmaf(alu15, alu17, 1.0f) * bits_i32_f32((int)((unsigned int)(alu19 + 127) << 23u));
  float cast0 = bits_i32_f32((int)(((unsigned int)alu18 - (unsigned int)alu19 + 127u) << 23u));
  float alu21 = fmaf(alu10, 1.925963e-8f, fmaf(alu10, 1.442695f, -alu11));
  acc1 = alu20 * cast0 * ((alu21 * alu21 < 1.0f) ? fmaf(alu21, 0.6931472f, 1.0f) : 1.0f);
  float val2 = acc1;
  float other8 = other_lane(val2, 1);
  float alu22 = val2 + other8;
  float other9 = other_lane(alu22, 2);
  float alu23 = alu22 + other9;
  float other10 = other_lane(alu23, 4);
  float alu24 = alu23 + other10;
  float other11 = other_lane(alu24, 8);
  shared0[lidx0] = val2 / (alu24 + other11);
  __syncthreads();
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    acc4 = 0.0f;
    int alu25 = ridx2 * 16 + lidx0;
    int alu26 = alu0 + alu25;
    for (int ridx10 = 0; ridx10 < 16; ridx10++) {
      acc4 = fmaf(shared0[ridx10], data3[alu26 + ridx10 * 32], acc4);
    }
    data0[alu1 + alu25] = acc4;
  }
}
