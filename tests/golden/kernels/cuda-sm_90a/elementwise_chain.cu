// grid None, block (12, 1, 1); opts: Opt(LOCAL, 0, 12)
extern "C" __global__ void __launch_bounds__(12) E_12(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  data0[lidx0] = sqrtf(data1[lidx0] * data2[lidx0] + 1.0f);
}
