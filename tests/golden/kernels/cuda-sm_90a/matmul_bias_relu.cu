// grid (64, 1, 1), block (32, 1, 1); opts: Opt(LOCAL, 1, 32)
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(32) r_64_32_48(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  float acc0;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 48;
  int lidx0 = threadIdx.x;
  for (int ridx2 = 0; ridx2 < 48; ridx2++) {
    acc0 = fmaf(data1[alu0 + ridx2], data2[lidx0 + ridx2 * 32], acc0);
  }
  float alu1 = acc0 + data3[lidx0];
  data0[gidx0 * 32 + lidx0] = (0.0f < alu1) ? alu1 : max_f32(alu1, 0.0f);
}
