// grid (256, 1, 1), block (128, 1, 1); opts: Opt(GROUP, 1, 128)
extern "C" __global__ void __launch_bounds__(128) r_256_128_8(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[128];
  __shared__ __align__(16) float shared1[8];
  float acc0;
  float acc1;
  float acc2;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 1024;
  int lidx0 = threadIdx.x;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    acc0 = acc0 + data1[alu0 + (ridx2 * 128 + lidx0)];
  }
  shared0[lidx0] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  int alu1 = lidx0 / 16;
  int alu2 = alu1 * 16;
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc1 = acc1 + shared0[alu2 + ridx3];
  }
  if (lidx0 % 16 < 1) shared1[alu1] = acc1;
  __syncthreads();
  acc2 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc2 = acc2 + shared1[ridx4];
  }
  if (lidx0 < 1) data0[gidx0] = acc2 * 0.5f;
}
