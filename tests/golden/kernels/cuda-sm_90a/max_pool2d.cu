// grid (3, 6, 1), block None; opts: none
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(1) r_6_3_2_2(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  acc0 = (-__int_as_float(0x7f800000));
  int gidx1 = blockIdx.y;
  int gidx0 = blockIdx.x;
  int alu0 = gidx1 * 12 + gidx0 * 2;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    int alu1 = alu0 + ridx2 * 6;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc0 = max_f32(acc0, data1[alu1 + ridx3]);
    }
  }
  data0[gidx1 * 3 + gidx0] = acc0;
}
