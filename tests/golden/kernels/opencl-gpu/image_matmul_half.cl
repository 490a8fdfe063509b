// grid None, group (16, 1, 1); opts: Opt(LOCAL, 0, 16)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void E_16_4_(write_only image2d_t data0,
    __global const half* restrict data1) {
  int lidx0 = get_local_id(0);
  half4 val0 = vload4(0, data1 + lidx0 * 4);
  write_imagef(data0, (int2)(lidx0 % 2, lidx0 / 2), (float4)((float)(val0.s0), (float)(val0.s1),
      (float)(val0.s2), (float)(val0.s3)));
}

// grid None, group (2, 8, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(2, 8, 1))) void E_8_2_4_(write_only image2d_t data0,
    __global const half* restrict data1) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = lidx0 * 32 + lidx1;
  float4 alu1 = (float4)((float)(data1[alu0]), (float)(data1[alu0 + 8]), (float)(data1[alu0 + 16]),
      (float)(data1[alu0 + 24]));
  write_imagef(data0, (int2)(lidx0, lidx1), alu1);
}

// grid (2, 1, 1), group (8, 4, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void r_2_4_8_2_4_(__global half* restrict data0,
    read_only image2d_t data1, read_only image2d_t data2) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = gidx0 * 4 + lidx1;
  int lidx0 = get_local_id(0);
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    float4 val0 = read_imagef(data1, (int2)(ridx3, alu0));
    float4 val1 = read_imagef(data2, (int2)(ridx3, lidx0));
    acc0 = fma(val0.s0, val1.s0, acc0);
    acc1 = fma(val0.s1, val1.s1, acc1);
    acc2 = fma(val0.s2, val1.s2, acc2);
    acc3 = fma(val0.s3, val1.s3, acc3);
  }
  data0[gidx0 * 32 + lidx0 + lidx1 * 8] = (half)(acc0 + acc1 + (acc2 + acc3));
}
