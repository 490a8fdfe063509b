// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(GROUP, 1, 32), Opt(GROUP, 2, 32), Opt(GROUP, 3, 32)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(32, 1,
    1))) void r_64_32_32_32_4_4_4_(__global float* restrict data0, __global const float* restrict data1) {
  __local float shared0[32];
  __local float shared1[4];
  __local float shared2[32];
  __local float shared3[4];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 128 + lidx0 * 4;
  float4 val0 = vload4(0, data1 + alu0);
  shared0[lidx0] = val0.s0 + val0.s1 + (val0.s2 + val0.s3);
  barrier(CLK_LOCAL_MEM_FENCE);
  acc0 = 0.0f;
  int alu1 = lidx0 / 8;
  int alu2 = alu1 * 8;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc0 = acc0 + shared0[alu2 + ridx4];
  }
  bool alu3 = lidx0 % 8 < 1;
  if (alu3) shared1[alu1] = acc0;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc1 = 0.0f;
  for (int ridx5 = 0; ridx5 < 4; ridx5++) {
    acc1 = acc1 + shared1[ridx5];
  }
  float alu4 = acc1 / 128.0f;
  float alu5 = val0.s0 - alu4;
  float alu6 = val0.s1 - alu4;
  float alu7 = val0.s2 - alu4;
  float alu8 = val0.s3 - alu4;
  shared2[lidx0] = alu5 * alu5 + alu6 * alu6 + (alu7 * alu7 + alu8 * alu8);
  barrier(CLK_LOCAL_MEM_FENCE);
  acc2 = 0.0f;
  for (int ridx6 = 0; ridx6 < 8; ridx6++) {
    acc2 = acc2 + shared2[alu2 + ridx6];
  }
  if (alu3) shared3[alu1] = acc2;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc3 = 0.0f;
  for (int ridx7 = 0; ridx7 < 4; ridx7++) {
    acc3 = acc3 + shared3[ridx7];
  }
  float alu9 = 1.0f / sqrt(acc3 / 128.0f + 1.0e-5f);
  vstore4((float4)(alu5 * alu9, alu6 * alu9, alu7 * alu9, alu8 * alu9), 0, data0 + alu0);
}
