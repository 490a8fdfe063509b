// grid (4096, 1, 1), group (256, 1, 1); opts: Opt(LOCAL, 0, 256)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void E_4096_256_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 256 + lidx0;
  data0[alu0] = data1[alu0] + data2[alu0] * 2.0f;
}
