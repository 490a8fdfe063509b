// grid (8, 1, 1), block (32, 8, 1); opts: Opt(LOCAL, 0, 32), Opt(GROUP, 2, 8)
extern "C" __global__ void __launch_bounds__(256) r_8_32_8_128(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[256];
  float acc0;
  float acc1;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 32 + lidx0;
  int lidx1 = threadIdx.y;
  for (int ridx3 = 0; ridx3 < 128; ridx3++) {
    acc0 = acc0 + data1[alu0 + (ridx3 * 8 + lidx1) * 256];
  }
  shared0[lidx1 * 32 + lidx0] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc1 = acc1 + shared0[ridx4 * 32 + lidx0];
  }
  if (lidx1 < 1) data0[alu0] = acc1;
}
