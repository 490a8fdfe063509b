// grid None, block (6, 1, 1); opts: Opt(LOCAL, 0, 6)
extern "C" __global__ void __launch_bounds__(6) E_6(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  data0[lidx0] = data1[lidx0] * 2.0f;
}

// grid None, block (2, 1, 1); opts: Opt(LOCAL, 0, 2)
extern "C" __global__ void __launch_bounds__(2) E_2(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  data0[lidx0 + 1] = data1[lidx0];
}
