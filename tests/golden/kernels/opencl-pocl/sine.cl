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
  uint alu10 = alu7 ? 2734261102u : (alu8 ? 1313084713u : (alu9 ? 4230436817u : 4113882560u));
  int alu11 = alu3 & 31;
  uint cast2 = (uint)alu11;
  uint alu12 = alu7 ? 1313084713u : (alu8 ? 4230436817u : (alu9 ? 4113882560u : 3680671129u));
  uint alu13 = alu5 ? 0u : (alu6 ? 2734261102u : alu12);
  uint cast3 = (uint)(31 - alu11);
  uint alu14 = (alu5 ? 0u : (alu6 ? 0u : alu10)) << cast2 | ((alu13 >> 1u) >> cast3);
  uint alu15 = alu7 ? 4230436817u : (alu8 ? 4113882560u : (alu9 ? 3680671129u : 1011060801u));
  uint alu16 = alu5 ? 2734261102u : (alu6 ? 1313084713u : alu15);
  ulong alu17 = (ulong)alu14 << 32UL | (ulong)(alu13 << cast2 | ((alu16 >> 1u) >> cast3));
  uint alu18 = alu7 ? 4113882560u : (alu8 ? 3680671129u : (alu9 ? 1011060801u : 4266746795u));
  uint alu19 = ((alu5 ? 1313084713u : (alu6 ? 4230436817u : alu18)) >> 1u) >> cast3;
  ulong alu20 = cast1 * alu17 + ((cast1 * (ulong)(alu16 << cast2 | alu19)) >> 32UL);
  ulong alu21 = (alu20 + 2305843009213693952UL) >> 62UL;
  int cast4 = (int)alu21;
  double alu22 = (double)(long)(alu20 - (alu21 << 62UL)) * 3.4061215800865545e-19;
  float cast5 = (float)alu22;
  float alu23 = cast5 * cast5;
  float alu24 = alu23 * 0.5f;
  float alu25 = 1.0f - alu24;
  float alu26 = fma(fma(2.4547719e-5f, alu23, (-0.0013888302f)), alu23, 0.041666664f);
  float cast6 = (float)(alu22 - (double)cast5);
  float alu27 = 1.0f - alu25 - alu24 + fma(alu26 * alu23, alu23, -(cast5 * cast6));
  float alu28 = fma(fma(2.7249612e-6f, alu23, (-0.00019840084f)), alu23, 0.008333332f);
  float alu29 = cast5 + fma(fma(alu28, alu23, (-0.16666667f)) * alu23, cast5, cast6);
  float alu30 = ((cast4 & 1) != 0) ? alu25 + alu27 : alu29;
  float alu31 = ((cast4 & 2) != 0) ? -alu30 : alu30;
  data0[lidx0] = (alu1 < INFINITY) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu31 : alu31)) : NAN;
}
