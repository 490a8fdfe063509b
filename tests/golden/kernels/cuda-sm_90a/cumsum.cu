// grid None, block (8, 1, 1); opts: Opt(LOCAL, 0, 8)
extern "C" __global__ void __launch_bounds__(8) r_8_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 + 1;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    acc0 = acc0 + ((ridx1 < alu0) ? data1[ridx1] : 0.0f);
  }
  data0[lidx0] = acc0;
}
