// grid (64, 1, 1), block (32, 1, 1); opts: Opt(LOCAL, 1, 32)
extern "C" __global__ void __launch_bounds__(32) E_64_32(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 32 + lidx0;
  data0[alu0] = data1[alu0] + data2[gidx0 + lidx0 * 64];
}
