// opts: Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void E_4_(__global int* restrict data0) {
  int lidx0 = get_local_id(0);
  data0[lidx0] = 3;
}
