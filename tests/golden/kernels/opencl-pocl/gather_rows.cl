// grid None, group (4, 3, 1); opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 3, 1))) void E_3_4_(__global float* restrict data0,
    __global const int* restrict data1, __global const float* restrict data2) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int val0 = data1[lidx1];
  int alu0 = (val0 < 0) ? as_int(as_uint(val0) + 5u) : val0;
  data0[lidx1 * 4 + lidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[as_int(as_uint(lidx0) + as_uint(alu0) * 4u)] : 0.0f;
}
