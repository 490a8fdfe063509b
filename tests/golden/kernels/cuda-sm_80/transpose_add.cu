// grid (8, 1, 1), block (32, 8, 1); opts: Opt(LOCAL, 1, 32), Opt(LOCAL, 0, 8)
extern "C" __global__ void __launch_bounds__(256) E_8_8_32(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx1 = threadIdx.y;
  int alu0 = gidx0 * 8 + lidx1;
  int lidx0 = threadIdx.x;
  int alu1 = alu0 * 32 + lidx0;
  data0[alu1] = data1[alu1] + data2[alu0 + lidx0 * 64];
}
