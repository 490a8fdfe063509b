// grid None, block (2, 4, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 4)
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(8) r_4_2_3(float* __restrict__ data0, float* __restrict__ data1,
    const float* __restrict__ data2, const float* __restrict__ data3) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = threadIdx.y;
  int alu0 = lidx1 * 3;
  int lidx0 = threadIdx.x;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    acc0 = fmaf(data2[alu0 + ridx2], data3[lidx0 + ridx2 * 2], acc0);
  }
  float alu1 = max_f32(acc0, 0.0f);
  int alu2 = lidx1 * 2 + lidx0;
  float alu3 = 0.125f * alu1;
  data0[alu2] = alu1;
  data1[alu2] = (0.0f < alu1) ? alu3 + alu3 : 0.0f;
}

// grid None, block (8, 1, 1); opts: Opt(GROUP, 0, 8)
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
extern "C" __global__ void __launch_bounds__(8) r_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  float val0 = data1[lidx0];
  float alu0 = val0 * val0;
  float other0 = other_lane(alu0, 1);
  float alu1 = alu0 + other0;
  float other1 = other_lane(alu1, 2);
  float alu2 = alu1 + other1;
  float other2 = other_lane(alu2, 4);
  if (lidx0 < 1) data0[0] = (alu2 + other2) / 8.0f;
}

// grid None, block (3, 2, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 2)
extern "C" __global__ void __launch_bounds__(6) r_2_3_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = threadIdx.y;
  int lidx0 = threadIdx.x;
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    acc0 = fmaf(data1[lidx1 + ridx2 * 2], data2[lidx0 + ridx2 * 3], acc0);
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}

// grid None, block (2, 3, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 3)
extern "C" __global__ void __launch_bounds__(6) E_3_2(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx1 = threadIdx.y;
  int lidx0 = threadIdx.x;
  data0[lidx1 * 2 + lidx0] = data0[lidx1 * 2 + lidx0] - data1[lidx1 + lidx0 * 3] * 0.1f;
}
