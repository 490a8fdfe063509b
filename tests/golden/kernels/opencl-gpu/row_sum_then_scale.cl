// grid (256, 1, 1), group (96, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(PADTO, 1, 96), Opt(GROUP, 1, 96)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(96, 1, 1))) void r_256_96_3_4_(__global float* restrict data0,
    __global const float* restrict data1) {
  __local float shared0[96];
  __local float shared1[8];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 1024 + lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    float4 val0 = (lidx0 + ridx2 * 96 < 256) ? vload4(0, data1 + alu0 + ridx2 * 384) : (float4)(0.0f);
    acc0 = acc0 + val0.s0;
    acc1 = acc1 + val0.s1;
    acc2 = acc2 + val0.s2;
    acc3 = acc3 + val0.s3;
  }
  shared0[lidx0] = acc0 + acc1 + (acc2 + acc3);
  barrier(CLK_LOCAL_MEM_FENCE);
  acc4 = 0.0f;
  int alu1 = lidx0 / 12;
  int alu2 = alu1 * 12;
  for (int ridx3 = 0; ridx3 < 12; ridx3++) {
    acc4 = acc4 + shared0[alu2 + ridx3];
  }
  if (lidx0 % 12 < 1) shared1[alu1] = acc4;
  barrier(CLK_LOCAL_MEM_FENCE);
  acc5 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc5 = acc5 + shared1[ridx4];
  }
  if (lidx0 < 1) data0[gidx0] = acc5 * 0.5f;
}
