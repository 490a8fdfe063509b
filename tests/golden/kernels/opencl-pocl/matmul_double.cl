// grid (4, 4, 1), group (10, 5, 1); opts: Opt(LOCAL, 1, 10), Opt(UPCAST, 0, 2), Opt(LOCAL, 0, 5), Opt(UNROLL, 4, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(10, 5,
    1))) void r_4_4_5_10_6_2_4_(__global double* restrict data0, __global const double* restrict data1,
    __global const double* restrict data2) {
  double acc0;
  double acc1;
  double acc2;
  double acc3;
  double acc4;
  double acc5;
  double acc6;
  double acc7;
  acc0 = 0.0;
  int gidx1 = get_group_id(1);
  int lidx1 = get_local_id(1);
  int alu0 = gidx1 * 240 + lidx1 * 48;
  int gidx0 = get_group_id(0);
  int alu1 = gidx0 * 10;
  int lidx0 = get_local_id(0);
  int alu2 = alu1 + lidx0;
  acc1 = 0.0;
  acc2 = 0.0;
  acc3 = 0.0;
  acc4 = 0.0;
  acc5 = 0.0;
  acc6 = 0.0;
  acc7 = 0.0;
  for (int ridx4 = 0; ridx4 < 6; ridx4++) {
    int alu3 = alu0 + ridx4 * 4;
    double2 val0 = vload2(0, data1 + alu3);
    int alu4 = alu2 + ridx4 * 160;
    double val1 = data2[alu4];
    acc0 = fma(val0.s0, val1, acc0);
    double val2 = data2[alu4 + 40];
    acc1 = fma(val0.s1, val2, acc1);
    double2 val3 = vload2(0, data1 + alu3 + 2);
    double val4 = data2[alu4 + 80];
    acc2 = fma(val3.s0, val4, acc2);
    double val5 = data2[alu4 + 120];
    acc3 = fma(val3.s1, val5, acc3);
    double2 val6 = vload2(0, data1 + alu3 + 24);
    acc4 = fma(val6.s0, val1, acc4);
    acc5 = fma(val6.s1, val2, acc5);
    double2 val7 = vload2(0, data1 + alu3 + 26);
    acc6 = fma(val7.s0, val4, acc6);
    acc7 = fma(val7.s1, val5, acc7);
  }
  int alu5 = alu1 + gidx1 * 400 + lidx0 + lidx1 * 80;
  data0[alu5] = acc0 + acc1 + (acc2 + acc3);
  data0[alu5 + 40] = acc4 + acc5 + (acc6 + acc7);
}
