// grid None, block None; opts: none
extern "C" __global__ void __launch_bounds__(1) r_65536(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 65536; ridx0++) {
    acc0 = acc0 + data1[ridx0];
  }
  data0[0] = acc0;
}
