// grid None, group (8, 1, 1); opts: Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_8_8_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 + 1;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    float val0 = acc0;
    acc0 = (ridx1 < alu0) ? val0 + data1[ridx1] : val0;
  }
  data0[lidx0] = acc0;
}
