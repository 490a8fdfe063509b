// grid (3, 1, 1), block (8, 1, 1); opts: Opt(GROUP, 2, 8), Opt(GROUP, 2, 8)
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
extern "C" __global__ void __launch_bounds__(8) r_3_8_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  float val0 = data1[gidx0 * 8 + lidx0];
  float other0 = other_lane(val0, 1);
  float alu0 = val0 + other0;
  float other1 = other_lane(alu0, 2);
  float alu1 = alu0 + other1;
  float other2 = other_lane(alu1, 4);
  float alu2 = val0 - (alu1 + other2) / 8.0f;
  float alu3 = alu2 * alu2;
  float other3 = other_lane(alu3, 1);
  float alu4 = alu3 + other3;
  float other4 = other_lane(alu4, 2);
  float alu5 = alu4 + other4;
  float other5 = other_lane(alu5, 4);
  if (lidx0 < 1) data0[gidx0] = (alu5 + other5) / 7.0f;
}
