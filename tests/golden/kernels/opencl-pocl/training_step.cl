// grid None, group (2, 4, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
__kernel __attribute__((reqd_work_group_size(2, 4, 1))) void r_4_2_3_(__global float* restrict data0,
    __global float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = get_local_id(1);
  int alu0 = lidx1 * 3;
  int lidx0 = get_local_id(0);
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    acc0 = fma(data2[alu0 + ridx2], data3[lidx0 + ridx2 * 2], acc0);
  }
  float alu1 = max_f32(acc0, 0.0f);
  int alu2 = lidx1 * 2 + lidx0;
  float alu3 = 0.125f * alu1;
  data0[alu2] = alu1;
  data1[alu2] = (0.0f < alu1) ? alu3 + alu3 : 0.0f;
}

// grid None, group None; opts: none
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void r_8_(__global float* restrict data0,
    __global const float* restrict data1) {
  float acc0;
  acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
    float val0 = data1[ridx0];
    acc0 = fma(val0, val0, acc0);
  }
  data0[0] = acc0 / 8.0f;
}

// grid None, group (3, 2, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 2)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(3, 2, 1))) void r_2_3_4_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    acc0 = fma(data1[lidx1 + ridx2 * 2], data2[lidx0 + ridx2 * 3], acc0);
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}

// grid None, group (2, 3, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 3)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(2, 3, 1))) void E_3_2_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  data0[lidx1 * 2 + lidx0] = data0[lidx1 * 2 + lidx0] - data1[lidx1 + lidx0 * 3] * 0.1f;
}
