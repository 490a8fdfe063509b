// grid None, group (3, 6, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 6)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(3, 6, 1))) void r_6_3_2_2_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = (-INFINITY);
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  int alu0 = lidx1 * 12 + lidx0 * 2;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    int alu1 = alu0 + ridx2 * 6;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc0 = max_f32(acc0, data1[alu1 + ridx3]);
    }
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}
