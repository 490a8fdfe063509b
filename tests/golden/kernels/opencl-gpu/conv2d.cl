// grid None, group (6, 6, 3); opts: Opt(LOCAL, 2, 6), Opt(LOCAL, 1, 6), Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(6, 6, 3))) void r_3_6_6_2_3_3_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = get_local_id(1);
  int alu0 = lidx1 * 6;
  int lidx0 = get_local_id(0);
  int alu1 = alu0 + lidx0;
  int lidx2 = get_local_id(2);
  int alu2 = lidx2 * 18;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    int alu3 = alu1 + ridx3 * 36;
    int alu4 = alu2 + ridx3 * 9;
    for (int ridx4 = 0; ridx4 < 3; ridx4++) {
      int alu5 = alu3 + ridx4 * 6;
      int alu6 = lidx1 + ridx4;
      bool alu7 = !(alu6 < 1) & (alu6 < 7);
      int alu8 = alu4 + ridx4 * 3;
      for (int ridx5 = 0; ridx5 < 3; ridx5++) {
        int alu9 = lidx0 + ridx5;
        float val0 = (alu7 & (alu9 < 7) & !(alu9 < 1)) ? data1[alu5 + ridx5 + (-7)] : 0.0f;
        acc0 = fma(val0, data2[alu8 + ridx5], acc0);
      }
    }
  }
  data0[lidx2 * 36 + alu0 + lidx0] = max_f32(acc0, 0.0f);
}
