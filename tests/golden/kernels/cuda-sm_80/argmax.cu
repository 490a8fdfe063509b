// grid (64, 1, 1), block (20, 1, 1); opts: Opt(GROUP, 2, 20), Opt(GROUP, 2, 20)
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__device__ inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
extern "C" __global__ void __launch_bounds__(20) r_64_20_20_5_5(int* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[20];
  __shared__ __align__(16) float shared1[4];
  __shared__ __align__(16) int shared2[20];
  __shared__ __align__(16) int shared3[4];
  float acc0;
  float acc1;
  float acc2;
  int acc3;
  int acc4;
  int acc5;
  acc0 = (-__int_as_float(0x7f800000));
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 100;
  int lidx0 = threadIdx.x;
  for (int ridx4 = 0; ridx4 < 5; ridx4++) {
    acc0 = max_f32(acc0, data1[alu0 + (ridx4 * 20 + lidx0)]);
  }
  shared0[lidx0] = acc0;
  __syncthreads();
  acc1 = (-__int_as_float(0x7f800000));
  int alu1 = lidx0 / 5;
  int alu2 = alu1 * 5;
  for (int ridx5 = 0; ridx5 < 5; ridx5++) {
    acc1 = max_f32(acc1, shared0[alu2 + ridx5]);
  }
  bool alu3 = lidx0 % 5 < 1;
  if (alu3) shared1[alu1] = acc1;
  __syncthreads();
  acc2 = (-__int_as_float(0x7f800000));
  for (int ridx6 = 0; ridx6 < 4; ridx6++) {
    acc2 = max_f32(acc2, shared1[ridx6]);
  }
  acc3 = (-2147483647 - 1);
  float val0 = acc2;
  for (int ridx3 = 0; ridx3 < 5; ridx3++) {
    int alu4 = ridx3 * 20 + lidx0;
    float val1 = data1[alu0 + alu4];
    int alu5 = (val1 == val0 | (val1 != val1)) ? (alu4 ^ (-1)) : (-2147483647 - 1);
    acc3 = max_i32(acc3, alu5);
  }
  shared2[lidx0] = acc3;
  __syncthreads();
  acc4 = (-2147483647 - 1);
  for (int ridx7 = 0; ridx7 < 5; ridx7++) {
    acc4 = max_i32(acc4, shared2[alu2 + ridx7]);
  }
  if (alu3) shared3[alu1] = acc4;
  __syncthreads();
  acc5 = (-2147483647 - 1);
  for (int ridx8 = 0; ridx8 < 4; ridx8++) {
    acc5 = max_i32(acc5, shared3[ridx8]);
  }
  if (lidx0 < 1) data0[gidx0] = acc5 ^ (-1);
}
