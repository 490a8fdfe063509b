// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global char* restrict data0,
    __global const int* restrict data1, __global const int* restrict data2) {
  int lidx0 = get_local_id(0);
  int val0 = data1[lidx0];
  int alu0 = data2[lidx0] % 5;
  data0[lidx0] = (char)(val0 / 7 - (int)(val0 % 7 < 0) + (alu0 + ((alu0 < 0) ? 5 : 0)));
}
