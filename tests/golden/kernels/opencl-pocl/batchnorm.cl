// grid None, group (8, 1, 1); opts: Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_8_4_36_(__global float* restrict data0,
    __global float* restrict data1, __global const float* restrict data2) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 36;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    int alu1 = alu0 + ridx1 * 288;
    for (int ridx2 = 0; ridx2 < 36; ridx2++) {
      acc0 = acc0 + data2[alu1 + ridx2];
    }
  }
  float alu2 = acc0 / 144.0f;
  data0[lidx0] = alu2;
  data1[lidx0] = alu2;
}

// grid None, group (8, 1, 1); opts: Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void r_8_4_36_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = get_local_id(0);
  int alu0 = lidx0 * 36;
  float val0 = data2[lidx0];
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    int alu1 = alu0 + ridx1 * 288;
    for (int ridx2 = 0; ridx2 < 36; ridx2++) {
      float alu2 = data1[alu1 + ridx2] - val0;
      acc0 = fma(alu2, alu2, acc0);
    }
  }
  data0[lidx0] = 1.0f / sqrt(acc0 / 143.0f + 1.0e-5f);
}

// grid (2, 4, 1), group (36, 4, 1); opts: Opt(LOCAL, 2, 36), Opt(LOCAL, 1, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(36, 4, 1))) void E_4_2_4_36_(__global float* restrict data0,
    __global const float* restrict data1, __global const float* restrict data2,
    __global const float* restrict data3, __global const float* restrict data4,
    __global const float* restrict data5) {
  int gidx1 = get_group_id(1);
  int gidx0 = get_group_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = gidx0 * 4 + lidx1;
  int lidx0 = get_local_id(0);
  int alu1 = gidx1 * 288 + alu0 * 36 + lidx0;
  data0[alu1] = (data1[alu1] - data2[alu0]) * data3[alu0] * data4[alu0] + data5[alu0];
}
