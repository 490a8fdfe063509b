// grid (8, 1, 1), block (8, 1, 1); opts: Opt(GROUP, 1, 8)
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
extern "C" __global__ void __launch_bounds__(8) r_8_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  int gidx0 = blockIdx.x;
  float alu0 = (lidx0 < gidx0 + 1) ? data1[lidx0] : 0.0f;
  float other0 = other_lane(alu0, 1);
  float alu1 = alu0 + other0;
  float other1 = other_lane(alu1, 2);
  float alu2 = alu1 + other1;
  float other2 = other_lane(alu2, 4);
  if (lidx0 < 1) data0[gidx0] = alu2 + other2;
}
