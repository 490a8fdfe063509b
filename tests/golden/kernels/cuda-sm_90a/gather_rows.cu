// grid (4, 3, 1), block None; opts: none
extern "C" __global__ void __launch_bounds__(1) E_3_4(float* __restrict__ data0,
    const int* __restrict__ data1, const float* __restrict__ data2) {
  int gidx0 = blockIdx.x;
  int gidx1 = blockIdx.y;
  int val0 = data1[gidx1];
  int alu0 = (val0 < 0) ? val0 + 5 : val0;
  data0[gidx1 * 4 + gidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[gidx0 + alu0 * 4] : 0.0f;
}
