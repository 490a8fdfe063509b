// grid (4, 1, 1), group (256, 1, 1); opts: Opt(LOCAL, 0, 256)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void r_4_256_256_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int lidx0 = get_local_id(0);
  int alu0 = gidx0 * 256 + lidx0;
  for (int ridx2 = 0; ridx2 < 256; ridx2++) {
    acc0 = acc0 + data1[alu0 + ridx2 * 1024];
  }
  data0[alu0] = acc0;
}
