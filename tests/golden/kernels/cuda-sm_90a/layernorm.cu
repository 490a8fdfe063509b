// grid (64, 1, 1), block (32, 1, 1); opts: Opt(GROUP, 1, 32), Opt(GROUP, 3, 32), Opt(GROUP, 5, 32)
extern "C" __global__ void __launch_bounds__(32) r_64_4_32_32_32_4_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[32];
  __shared__ __align__(16) float shared1[4];
  __shared__ __align__(16) float shared2[32];
  __shared__ __align__(16) float shared3[4];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  acc0 = 0.0f;
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 128;
  int lidx0 = threadIdx.x;
  for (int ridx5 = 0; ridx5 < 4; ridx5++) {
    acc0 = acc0 + data1[alu0 + (ridx5 * 32 + lidx0)];
  }
  shared0[lidx0] = acc0;
  __syncthreads();
  acc1 = 0.0f;
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx7 = 0; ridx7 < 8; ridx7++) {
    acc1 = acc1 + shared0[alu2 + ridx7];
  }
  bool alu3 = lidx0 % 8 < 1;
  if (alu3) shared1[alu1] = acc1;
  __syncthreads();
  acc2 = 0.0f;
  for (int ridx8 = 0; ridx8 < 4; ridx8++) {
    acc2 = acc2 + shared1[ridx8];
  }
  acc3 = 0.0f;
  float alu4 = acc2 / 128.0f;
  for (int ridx6 = 0; ridx6 < 4; ridx6++) {
    float alu5 = data1[alu0 + (ridx6 * 32 + lidx0)] - alu4;
    acc3 = fmaf(alu5, alu5, acc3);
  }
  shared2[lidx0] = acc3;
  __syncthreads();
  acc4 = 0.0f;
  for (int ridx9 = 0; ridx9 < 8; ridx9++) {
    acc4 = acc4 + shared2[alu2 + ridx9];
  }
  if (alu3) shared3[alu1] = acc4;
  __syncthreads();
  acc5 = 0.0f;
  for (int ridx10 = 0; ridx10 < 4; ridx10++) {
    acc5 = acc5 + shared3[ridx10];
  }
  float alu6 = 1.0f / sqrtf(acc5 / 128.0f + 1.0e-5f);
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    int alu7 = alu0 + (ridx1 * 32 + lidx0);
    data0[alu7] = (data1[alu7] - alu4) * alu6;
  }
}
