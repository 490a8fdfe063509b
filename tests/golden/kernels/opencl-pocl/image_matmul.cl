// grid None, group (8, 32, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 32)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 32, 1))) void E_32_8_4_(write_only image2d_t data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = lidx0 * 4 + lidx1 * 30;
  float2 val0 = vload2(0, data1 + alu0);
  float2 val1 = (lidx0 < 7) ? vload2(0, data1 + alu0 + 2) : (float2)(0.0f);
  write_imagef(data0, (int2)(lidx0, lidx1), (float4)(val0.s0, val0.s1, val1.s0, val1.s1));
}

// grid None, group (8, 32, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 32)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 32, 1))) void E_32_8_4_(write_only image2d_t data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = lidx0 * 128 + lidx1;
  bool alu1 = lidx0 < 7;
  float4 alu2 = (float4)(data1[alu0], data1[alu0 + 32], alu1 ? data1[alu0 + 64] : 0.0f,
      alu1 ? data1[alu0 + 96] : 0.0f);
  write_imagef(data0, (int2)(lidx0, lidx1), alu2);
}

// grid (32, 1, 1), group (32, 1, 1); opts: Opt(LOCAL, 1, 32)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void r_32_32_8_4_(__global float* restrict data0,
    read_only image2d_t data1, read_only image2d_t data2) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    float4 val0 = read_imagef(data1, (int2)(ridx2, gidx0));
    float4 val1 = read_imagef(data2, (int2)(ridx2, lidx0));
    acc0 = fma(val0.s0, val1.s0, acc0);
    acc1 = fma(val0.s1, val1.s1, acc1);
    acc2 = fma(val0.s2, val1.s2, acc2);
    acc3 = fma(val0.s3, val1.s3, acc3);
  }
  data0[gidx0 * 32 + lidx0] = acc0 + acc1 + (acc2 + acc3);
}
