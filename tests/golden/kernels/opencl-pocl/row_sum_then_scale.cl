// grid None, group (256, 1, 1); opts: Opt(LOCAL, 0, 256)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void r_256_1024_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 1024;
  for (int ridx1 = 0; ridx1 < 1024; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[lidx0] = acc0 * 0.5f;
}
