// grid (4096, 1, 1), block (256, 1, 1); opts: Opt(LOCAL, 0, 256)
extern "C" __global__ void __launch_bounds__(256) E_4096_256(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 256 + lidx0;
  data0[alu0] = data1[alu0] + data2[alu0] * 2.0f;
}
