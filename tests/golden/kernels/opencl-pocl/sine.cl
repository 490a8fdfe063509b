// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  float val0 = data1[lidx0];
  bool alu0 = val0 < 0.0f;
  float alu1 = alu0 ? -val0 : val0;
  int cast0 = as_int(val0);
  ulong cast1 = (ulong)(cast0 & 8388607 | 8388608);
  int alu2 = (cast0 >> 23 & 255) - 88;
  int alu3 = (alu2 < 0) ? 0 : alu2;
  int alu4 = alu3 >> 5;
  bool alu5 = alu4 == 0;
  bool alu6 = alu4 == 1;
  bool alu7 = alu4 == 2;
  bool alu8 = alu4 == 3;
  bool alu9 = alu4 == 4;
  ulong alu10 = alu7 ? 2734261102UL : (alu8 ? 1313084713UL : (alu9 ? 4230436817UL : 4113882560UL));
  ulong cast2 = (ulong)(alu3 & 31);
  ulong alu11 = alu7 ? 1313084713UL : (alu8 ? 4230436817UL : (alu9 ? 4113882560UL : 3680671129UL));
  ulong alu12 = (alu5 ? 0UL : (alu6 ? 2734261102UL : alu11)) << cast2;
  ulong alu13 = ((alu5 ? 0UL : (alu6 ? 0UL : alu10)) << cast2 | (alu12 >> 32UL)) & 4294967295UL;
  ulong alu14 = alu7 ? 4230436817UL : (alu8 ? 4113882560UL : (alu9 ? 3680671129UL : 1011060801UL));
  ulong alu15 = (alu5 ? 2734261102UL : (alu6 ? 1313084713UL : alu14)) << cast2;
  ulong alu16 = cast1 * (alu13 << 32UL | ((alu12 | (alu15 >> 32UL)) & 4294967295UL));
  ulong alu17 = alu7 ? 4113882560UL : (alu8 ? 3680671129UL : (alu9 ? 1011060801UL : 4266746795UL));
  ulong alu18 = ((alu5 ? 1313084713UL : (alu6 ? 4230436817UL : alu17)) << cast2) >> 32UL;
  ulong alu19 = alu16 + ((cast1 * ((alu15 | alu18) & 4294967295UL)) >> 32UL);
  ulong alu20 = (alu19 + 2305843009213693952UL) >> 62UL;
  int cast3 = (int)alu20;
  double alu21 = (double)(long)(alu19 - (alu20 << 62UL)) * 3.4061215800865545e-19;
  float cast4 = (float)alu21;
  float alu22 = cast4 * cast4;
  float alu23 = alu22 * 0.5f;
  float alu24 = 1.0f - alu23;
  float alu25 = fma(fma(2.4547719e-5f, alu22, (-0.0013888302f)), alu22, 0.041666664f);
  float cast5 = (float)(alu21 - (double)cast4);
  float alu26 = 1.0f - alu24 - alu23 + fma(alu25 * alu22, alu22, -(cast4 * cast5));
  float alu27 = fma(fma(2.7249612e-6f, alu22, (-0.00019840084f)), alu22, 0.008333332f);
  float alu28 = cast4 + fma(fma(alu27, alu22, (-0.16666667f)) * alu22, cast4, cast5);
  float alu29 = ((cast3 & 1) != 0) ? alu24 + alu26 : alu28;
  float alu30 = ((cast3 & 2) != 0) ? -alu29 : alu29;
  data0[lidx0] = (alu1 < INFINITY) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu30 : alu30)) : NAN;
}
