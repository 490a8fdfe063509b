// opts: Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(3, 1, 1))) void r_3_4_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 4;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[lidx0] = acc0 * 0.5f;
}
