// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_4_(write_only image2d_t data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  write_imagef(data0, (int2)(lidx0 % 8, lidx0 / 8), (float4)(data1[lidx0], data1[lidx0 + 64],
      data1[lidx0 + 128], 0.0f));
}

// grid None, group (9, 8, 1); opts: Opt(LOCAL, 1, 9), Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(9, 8, 1))) void E_8_9_4_(write_only image2d_t data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = lidx0 + lidx1 * 27;
  write_imagef(data0, (int2)(lidx0, lidx1), (float4)(data1[alu0], data1[alu0 + 9], data1[alu0 + 18], 0.0f));
}

// grid (8, 2, 1), group (8, 4, 1); opts: Opt(LOCAL, 2, 8), Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void r_2_8_4_8_3_3_4_(__global float* restrict data0,
    read_only image2d_t data1, read_only image2d_t data2) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int alu0 = gidx0 * 8;
  int lidx0 = get_local_id(0);
  int alu1 = alu0 + lidx0;
  int gidx1 = get_group_id(1);
  int lidx1 = get_local_id(1);
  int alu2 = gidx1 * 4 + lidx1;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx4 = 0; ridx4 < 3; ridx4++) {
    int alu3 = alu1 + ridx4 * 8;
    int alu4 = gidx0 + ridx4;
    bool alu5 = alu4 < 9 & !(alu4 < 1);
    int alu6 = ridx4 * 3;
    for (int ridx5 = 0; ridx5 < 3; ridx5++) {
      int alu7 = alu3 + ridx5 + (-9);
      int alu8 = lidx0 + ridx5;
      float4 val0 = (alu5 & !(alu8 < 1) & (alu8 < 9)) ? read_imagef(data1, (int2)(alu7 % 8,
          alu7 / 8)) : (float4)(0.0f);
      float4 val1 = read_imagef(data2, (int2)(alu6 + ridx5, alu2));
      acc0 = fma(val0.s0, val1.s0, acc0);
      acc1 = fma(val0.s1, val1.s1, acc1);
      acc2 = fma(val0.s2, val1.s2, acc2);
      acc3 = fma(val0.s3, val1.s3, acc3);
    }
  }
  data0[alu0 + gidx1 * 256 + lidx0 + lidx1 * 64] = max_f32(acc0 + acc1 + (acc2 + acc3), 0.0f);
}
