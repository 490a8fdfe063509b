// grid (3, 1, 1), block None; opts: none
extern "C" __global__ void __launch_bounds__(1) r_3_8_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  float acc1;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 8;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    acc0 = acc0 + data1[alu0 + ridx2];
  }
  acc1 = 0.0f;
  float alu1 = acc0 / 8.0f;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    float alu2 = data1[alu0 + ridx1] - alu1;
    acc1 = fmaf(alu2, alu2, acc1);
  }
  data0[gidx0] = acc1 / 7.0f;
}
