// grid None, block (256, 1, 1); opts: Opt(GROUP, 0, 256)
extern "C" __global__ void __launch_bounds__(256) r_256_256(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[256];
  __shared__ __align__(16) float shared1[16];
  float acc0;
  float acc1;
  float acc2;
  acc0 = 0.0f;
  int lidx0 = threadIdx.x;
  for (int ridx1 = 0; ridx1 < 256; ridx1++) {
    acc0 = acc0 + data1[ridx1 * 256 + lidx0];
  }
  shared0[lidx0] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  int alu0 = lidx0 / 16;
  int alu1 = alu0 * 16;
  for (int ridx2 = 0; ridx2 < 16; ridx2++) {
    acc1 = acc1 + shared0[alu1 + ridx2];
  }
  if (lidx0 % 16 < 1) shared1[alu0] = acc1;
  __syncthreads();
  acc2 = 0.0f;
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc2 = acc2 + shared1[ridx3];
  }
  if (lidx0 < 1) data0[0] = acc2;
}
