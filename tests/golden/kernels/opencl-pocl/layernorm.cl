// opts: Opt(GROUP, 1, 8), Opt(GROUP, 2, 8), Opt(GROUP, 3, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_3_8_8_8_(__global float* restrict data0,
    __global const float* restrict data1) {
  __local float shared0[8];
  __local float shared1[8];
  float acc0;
  float acc1;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 8 + lidx0;
  float val0 = data1[alu0];
  shared0[lidx0] = val0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc0 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc0 = acc0 + shared0[ridx4];
  }
  float alu1 = val0 - acc0 / 8.0f;
  shared1[lidx0] = alu1 * alu1;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = 0.0f;
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc1 = acc1 + shared1[ridx5];
  }
  data0[alu0] = alu1 * (1.0f / sqrt(acc1 / 8.0f + 1.0e-5f));
}
