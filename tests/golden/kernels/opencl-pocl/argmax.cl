// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void r_64_100_100_(__global int* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  int acc1;
  acc0 = (-INFINITY);
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 100;
  for (int ridx2 = 0; ridx2 < 100; ridx2++) {
    acc0 = max_f32(acc0, data1[alu0 + ridx2]);
  }
  acc1 = (-2147483647 - 1);
  float val0 = acc0;
  for (int ridx1 = 0; ridx1 < 100; ridx1++) {
    float val1 = data1[alu0 + ridx1];
    int alu1 = (val1 == val0 | (val1 != val1)) ? (ridx1 ^ (-1)) : (-2147483647 - 1);
    acc1 = max_i32(acc1, alu1);
  }
  data0[lidx0] = acc1 ^ (-1);
}
