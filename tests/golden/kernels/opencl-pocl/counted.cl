// grid None, group (4, 3, 1); opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 3, 1))) void E_3_4_(__global int* restrict data0) {
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  int alu0 = lidx1 * 4 + lidx0;
  data0[alu0] = alu0;
}
