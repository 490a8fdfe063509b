// grid None, block (3, 6, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 6)
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(18) r_6_3_2_2(float* __restrict__ data0,
    const float* __restrict__ data1) {
  float acc0;
  acc0 = (-__int_as_float(0x7f800000));
  int lidx1 = threadIdx.y;
  int lidx0 = threadIdx.x;
  int alu0 = lidx1 * 12 + lidx0 * 2;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    int alu1 = alu0 + ridx2 * 6;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc0 = max_f32(acc0, data1[alu1 + ridx3]);
    }
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}
