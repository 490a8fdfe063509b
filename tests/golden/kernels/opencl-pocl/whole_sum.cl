// grid None, group (128, 1, 1); opts: Opt(LOCAL, 0, 128)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void r_128_512_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 512;
  for (int ridx1 = 0; ridx1 < 512; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[lidx0] = acc0;
}

// grid None, group None; opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void r_128_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 128; ridx0++) {
    acc0 = acc0 + data1[ridx0];
  }
  data0[0] = acc0;
}
