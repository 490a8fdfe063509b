// grid None, block (64, 1, 1); opts: Opt(LOCAL, 0, 64)
extern "C" __global__ void __launch_bounds__(64) E_64(unsigned char* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  int lidx0 = threadIdx.x;
  data0[lidx0] = data1[lidx0] < data2[lidx0] & (data3[lidx0] != 0.0f);
}
