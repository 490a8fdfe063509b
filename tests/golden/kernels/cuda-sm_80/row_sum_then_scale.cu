// grid None, block (256, 1, 1); opts: Opt(LOCAL, 0, 256)
extern "C" __global__ void __launch_bounds__(256) r_256_1024(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 * 1024;
  for (int ridx1 = 0; ridx1 < 1024; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[lidx0] = acc0 * 0.5f;
}
