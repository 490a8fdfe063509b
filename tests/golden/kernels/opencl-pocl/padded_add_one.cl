// grid None, group (6, 1, 1); opts: Opt(LOCAL, 0, 6)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(6, 1, 1))) void E_6_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  bool alu0 = !(lidx0 < 1) & (lidx0 < 4);
  data0[lidx0] = alu0 ? (alu0 ? data1[lidx0 + (-1)] : 0.0f) + 1.0f : 0.0f;
}
