// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1,
    1))) void r_64_128_128_128_(__global float* restrict data0, __global const float* restrict data1) {
  float acc0;
  float acc1;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 128;
  for (int ridx2 = 0; ridx2 < 128; ridx2++) {
    acc0 = acc0 + data1[alu0 + ridx2];
  }
  acc1 = 0.0f;
  float alu1 = acc0 / 128.0f;
  for (int ridx3 = 0; ridx3 < 128; ridx3++) {
    float alu2 = data1[alu0 + ridx3] - alu1;
    acc1 = fma(alu2, alu2, acc1);
  }
  float alu3 = 1.0f / sqrt(acc1 / 128.0f + 1.0e-5f);
  for (int ridx1 = 0; ridx1 < 128; ridx1++) {
    int alu4 = alu0 + ridx1;
    data0[alu4] = (data1[alu4] - alu1) * alu3;
  }
}
