// grid (8, 16, 1), group (32, 8, 1); opts: Opt(UPCAST, 1, 2), Opt(LOCAL, 1, 32), Opt(UPCAST, 0, 4), Opt(LOCAL, 0, 8), Opt(SPLIT, 4, 16), Opt(UNROLL, 5, 4), Opt(STAGE, 4, 0)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(32, 8,
    1))) void r_16_8_8_32_32_4_4_2_4_(__global float* restrict data0, __global const float* restrict data1,
    __global const float* restrict data2) {
  __local float tile0[528];
  __local float tile1[1024];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 / 8;
  int gidx1 = get_group_id(1);
  int alu1 = gidx1 * 16384;
  int lidx1 = get_local_id(1);
  int alu2 = lidx1 * 2048;
  int alu3 = alu0 * 512 + lidx0 % 8 * 2 + alu1 + alu2;
  int alu4 = lidx1 * 4;
  int alu5 = lidx0 / 2 % 4 * 132 + lidx0 % 2 * 64 + alu0 + alu4;
  int alu6 = alu5 + 32;
  int gidx0 = get_group_id(0);
  int alu7 = gidx0 * 64;
  int alu8 = lidx0 / 16 * 512 + lidx0 % 16 * 4 + alu7 + lidx1 * 1024;
  int alu9 = lidx0 * 4 + lidx1 * 128;
  acc0 = 0.0f;
  int alu10 = lidx0 * 2;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  for (int ridx4 = 0; ridx4 < 32; ridx4++) {
    float2 val0 = vload2(0, data1 + alu3 + ridx4 * 16);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile0[alu5] = val0.s0;
    tile0[alu6] = val0.s1;
    vstore4(vload4(0, data2 + alu8 + ridx4 * 8192), 0, tile1 + alu9);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int ridx5 = 0; ridx5 < 4; ridx5++) {
      int alu11 = alu4 + ridx5 * 132;
      float4 val1 = vload4(0, tile0 + alu11 + 96);
      int alu12 = alu10 + ridx5 * 256;
      float2 val2 = vload2(0, tile1 + alu12 + 192);
      float4 val3 = vload4(0, tile0 + alu11 + 64);
      float2 val4 = vload2(0, tile1 + alu12 + 128);
      float4 val5 = vload4(0, tile0 + alu11 + 32);
      float2 val6 = vload2(0, tile1 + alu12 + 64);
      float4 val7 = vload4(0, tile0 + alu11);
      float2 val8 = vload2(0, tile1 + alu12);
      float alu13 = fma(val3.s0, val4.s0, fma(val5.s0, val6.s0, fma(val7.s0, val8.s0, acc0)));
      acc0 = fma(val1.s0, val2.s0, alu13);
      float alu14 = fma(val3.s0, val4.s1, fma(val5.s0, val6.s1, fma(val7.s0, val8.s1, acc1)));
      acc1 = fma(val1.s0, val2.s1, alu14);
      float alu15 = fma(val3.s1, val4.s0, fma(val5.s1, val6.s0, fma(val7.s1, val8.s0, acc2)));
      acc2 = fma(val1.s1, val2.s0, alu15);
      float alu16 = fma(val3.s1, val4.s1, fma(val5.s1, val6.s1, fma(val7.s1, val8.s1, acc3)));
      acc3 = fma(val1.s1, val2.s1, alu16);
      float alu17 = fma(val3.s2, val4.s0, fma(val5.s2, val6.s0, fma(val7.s2, val8.s0, acc4)));
      acc4 = fma(val1.s2, val2.s0, alu17);
      float alu18 = fma(val3.s2, val4.s1, fma(val5.s2, val6.s1, fma(val7.s2, val8.s1, acc5)));
      acc5 = fma(val1.s2, val2.s1, alu18);
      float alu19 = fma(val3.s3, val4.s0, fma(val5.s3, val6.s0, fma(val7.s3, val8.s0, acc6)));
      acc6 = fma(val1.s3, val2.s0, alu19);
      float alu20 = fma(val3.s3, val4.s1, fma(val5.s3, val6.s1, fma(val7.s3, val8.s1, acc7)));
      acc7 = fma(val1.s3, val2.s1, alu20);
    }
  }
  int alu21 = alu7 + alu1 + alu10 + alu2;
  vstore2((float2)(acc0, acc1), 0, data0 + alu21);
  vstore2((float2)(acc2, acc3), 0, data0 + alu21 + 512);
  vstore2((float2)(acc4, acc5), 0, data0 + alu21 + 1024);
  vstore2((float2)(acc6, acc7), 0, data0 + alu21 + 1536);
}
