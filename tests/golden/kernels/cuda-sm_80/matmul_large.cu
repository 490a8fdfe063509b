// grid (2, 512, 1), block (256, 1, 1); opts: Opt(LOCAL, 1, 256)
extern "C" __global__ void __launch_bounds__(256) r_512_2_256_512(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  float acc0;
  acc0 = 0.0f;
  int gidx1 = blockIdx.y;
  int alu0 = gidx1 * 512;
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu1 = gidx0 * 256 + lidx0;
  for (int ridx3 = 0; ridx3 < 512; ridx3++) {
    acc0 = fmaf(data1[alu0 + ridx3], data2[alu1 + ridx3 * 512], acc0);
  }
  data0[alu0 + alu1] = acc0;
}
