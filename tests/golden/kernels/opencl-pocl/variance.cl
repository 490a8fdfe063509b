// grid None, group (3, 1, 1); opts: Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(3, 1, 1))) void r_3_8_8_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  float acc1;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 8;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    acc0 = acc0 + data1[alu0 + ridx2];
  }
  acc1 = 0.0f;
  float alu1 = acc0 / 8.0f;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    float alu2 = data1[alu0 + ridx1] - alu1;
    acc1 = fma(alu2, alu2, acc1);
  }
  data0[lidx0] = acc1 / 7.0f;
}
