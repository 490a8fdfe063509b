// grid None, block (6, 1, 1); opts: Opt(LOCAL, 0, 6)
extern "C" __global__ void __launch_bounds__(6) E_6(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  bool alu0 = !(lidx0 < 1) & (lidx0 < 4);
  data0[lidx0] = alu0 ? (alu0 ? data1[lidx0 + (-1)] : 0.0f) + 1.0f : 0.0f;
}
