// grid None, block (4, 3, 1); opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
extern "C" __global__ void __launch_bounds__(12) E_3_4(float* __restrict__ data0,
    const int* __restrict__ data1, const float* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  int lidx1 = threadIdx.y;
  int val0 = data1[lidx1];
  int alu0 = (val0 < 0) ? val0 + 5 : val0;
  data0[lidx1 * 4 + lidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[lidx0 + alu0 * 4] : 0.0f;
}
