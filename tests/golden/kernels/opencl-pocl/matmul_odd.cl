// grid (17, 1, 1), group (5, 1, 1); opts: Opt(LOCAL, 1, 5), Opt(UNROLL, 2, 0)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(5, 1, 1))) void r_17_5_23_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  int gidx0 = get_group_id(0);
  int alu0 = gidx0 * 23;
  float4 val0 = vload4(0, data1 + alu0 + 16);
  int lidx0 = get_local_id(0);
  float4 val1 = vload4(0, data1 + alu0 + 8);
  float4 val2 = vload4(0, data1 + alu0);
  float alu1 = fma(val0.s0, data2[lidx0 + 80], fma(val1.s0, data2[lidx0 + 40], val2.s0 * data2[lidx0]));
  float alu2 = fma(val0.s1, data2[lidx0 + 85], fma(val1.s1, data2[lidx0 + 45], val2.s1 * data2[lidx0 + 5]));
  float alu3 = fma(val0.s2, data2[lidx0 + 90], fma(val1.s2, data2[lidx0 + 50], val2.s2 * data2[lidx0 + 10]));
  float alu4 = fma(val0.s3, data2[lidx0 + 95], fma(val1.s3, data2[lidx0 + 55], val2.s3 * data2[lidx0 + 15]));
  float2 val3 = vload2(0, data1 + alu0 + 20);
  float4 val4 = vload4(0, data1 + alu0 + 12);
  float4 val5 = vload4(0, data1 + alu0 + 4);
  float alu5 = fma(val3.s0, data2[lidx0 + 100], fma(val4.s0, data2[lidx0 + 60], val5.s0 * data2[lidx0 + 20]));
  float alu6 = fma(val3.s1, data2[lidx0 + 105], fma(val4.s1, data2[lidx0 + 65], val5.s1 * data2[lidx0 + 25]));
  float alu7 = fma(data1[alu0 + 22], data2[lidx0 + 110], fma(val4.s2, data2[lidx0 + 70],
      val5.s2 * data2[lidx0 + 30]));
  float alu8 = alu7 + fma(val4.s3, data2[lidx0 + 75], val5.s3 * data2[lidx0 + 35]);
  data0[gidx0 * 5 + lidx0] = alu1 + alu2 + (alu3 + alu4) + (alu5 + alu6 + alu8);
}
