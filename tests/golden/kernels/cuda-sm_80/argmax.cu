// grid (64, 1, 1), block (20, 1, 1); opts: Opt(GROUP, 2, 20), Opt(GROUP, 2, 20)
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__device__ inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
extern "C" __global__ void __launch_bounds__(20) r_64_20_20_5_5(int* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[5];
  __shared__ __align__(16) int shared1[5];
  float acc0;
  float acc1;
  int acc2;
  int acc3;
  acc0 = (-__int_as_float(0x7f800000));
  int gidx0 = blockIdx.x;
  int alu0 = gidx0 * 100;
  int lidx0 = threadIdx.x;
  for (int ridx4 = 0; ridx4 < 5; ridx4++) {
    acc0 = max_f32(acc0, data1[alu0 + (ridx4 * 20 + lidx0)]);
  }
  float val0 = acc0;
  float other0 = other_lane(val0, 1);
  float alu1 = max_f32(val0, other0);
  float other1 = other_lane(alu1, 2);
  int alu2 = lidx0 / 4;
  bool alu3 = lidx0 % 4 < 1;
  if (alu3) shared0[alu2] = max_f32(alu1, other1);
  __syncthreads();
  acc1 = (-__int_as_float(0x7f800000));
  for (int ridx5 = 0; ridx5 < 5; ridx5++) {
    acc1 = max_f32(acc1, shared0[ridx5]);
  }
  acc2 = (-2147483647 - 1);
  float val1 = acc1;
  for (int ridx3 = 0; ridx3 < 5; ridx3++) {
    int alu4 = ridx3 * 20 + lidx0;
    float val2 = data1[alu0 + alu4];
    int alu5 = (val2 == val1 | (val2 != val2)) ? (alu4 ^ (-1)) : (-2147483647 - 1);
    acc2 = max_i32(acc2, alu5);
  }
  int val3 = acc2;
  int other2 = other_lane(val3, 1);
  int alu6 = max_i32(val3, other2);
  int other3 = other_lane(alu6, 2);
  if (alu3) shared1[alu2] = max_i32(alu6, other3);
  __syncthreads();
  acc3 = (-2147483647 - 1);
  for (int ridx6 = 0; ridx6 < 5; ridx6++) {
    acc3 = max_i32(acc3, shared1[ridx6]);
  }
  if (lidx0 < 1) data0[gidx0] = acc3 ^ (-1);
}
