// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global float* restrict data0,
    __global const float* restrict data1) {
  int lidx0 = get_local_id(0);
  float val0 = data1[lidx0];
  int cast0 = as_int(val0);
  int alu0 = cast0 & 2147483647;
  bool alu1 = alu0 < as_int(131072.0f);
  float alu2 = fma(val0, 0.63661975f, 12582912.0f);
  bool alu3 = val0 < 0.0f;
  ulong cast1 = (ulong)(cast0 & 8388607 | 8388608);
  int alu4 = (cast0 >> 23 & 255) - 88;
  int alu5 = (alu4 < 0) ? 0 : alu4;
  int alu6 = alu5 >> 5;
  bool alu7 = alu6 == 0;
  bool alu8 = alu6 == 1;
  bool alu9 = alu6 == 2;
  bool alu10 = alu6 == 3;
  bool alu11 = alu6 == 4;
  uint alu12 = alu9 ? 2734261102u : (alu10 ? 1313084713u : (alu11 ? 4230436817u : 4113882560u));
  int alu13 = alu5 & 31;
  uint cast2 = (uint)alu13;
  uint alu14 = alu9 ? 1313084713u : (alu10 ? 4230436817u : (alu11 ? 4113882560u : 3680671129u));
  uint alu15 = alu7 ? 0u : (alu8 ? 2734261102u : alu14);
  uint cast3 = (uint)(31 - alu13);
  uint alu16 = (alu7 ? 0u : (alu8 ? 0u : alu12)) << cast2 | ((alu15 >> 1u) >> cast3);
  uint alu17 = alu9 ? 4230436817u : (alu10 ? 4113882560u : (alu11 ? 3680671129u : 1011060801u));
  uint alu18 = alu7 ? 2734261102u : (alu8 ? 1313084713u : alu17);
  ulong alu19 = (ulong)alu16 << 32UL | (ulong)(alu15 << cast2 | ((alu18 >> 1u) >> cast3));
  uint alu20 = alu9 ? 4113882560u : (alu10 ? 3680671129u : (alu11 ? 1011060801u : 4266746795u));
  uint alu21 = ((alu7 ? 1313084713u : (alu8 ? 4230436817u : alu20)) >> 1u) >> cast3;
  ulong alu22 = cast1 * alu19 + ((cast1 * (ulong)(alu18 << cast2 | alu21)) >> 32UL);
  ulong alu23 = (alu22 + 2305843009213693952UL) >> 62UL;
  int cast4 = (int)alu23;
  int alu24 = alu1 ? as_int(alu2) : (alu3 ? -cast4 : cast4);
  float alu25 = 12582912.0f - alu2;
  float alu26 = fma(alu25, 1.5707964f, val0);
  float alu27 = alu25 * (-4.371139e-8f);
  float alu28 = alu26 + alu27;
  double alu29 = (double)(long)(alu22 - (alu23 << 62UL)) * 3.4061215800865545e-19;
  float cast5 = (float)alu29;
  float alu30 = alu1 ? alu28 : ((alu0 < as_int(INFINITY)) ? (alu3 ? -cast5 : cast5) : NAN);
  float alu31 = alu30 * alu30;
  float alu32 = alu31 * 0.5f;
  float alu33 = 1.0f - alu32;
  float alu34 = fma(fma(2.4547719e-5f, alu31, (-0.0013888302f)), alu31, 0.041666664f);
  float alu35 = fma(alu25, (-1.7151245e-15f), fma(alu25, (-4.371139e-8f), -alu27));
  float alu36 = alu28 - alu26;
  float cast6 = (float)(alu29 - (double)cast5);
  float alu37 = alu1 ? alu35 + (alu26 - (alu28 - alu36) + (alu27 - alu36)) : (alu3 ? -cast6 : cast6);
  float alu38 = 1.0f - alu33 - alu32 + fma(alu34 * alu31, alu31, -(alu30 * alu37));
  float alu39 = fma(fma(2.7249612e-6f, alu31, (-0.00019840084f)), alu31, 0.008333332f);
  float alu40 = alu30 + fma(fma(alu39, alu31, (-0.16666667f)) * alu31, alu30, alu37);
  float alu41 = ((alu24 & 1) != 0) ? alu33 + alu38 : alu40;
  data0[lidx0] = (alu0 < as_int(0.00012207031f)) ? val0 : (((alu24 & 2) != 0) ? -alu41 : alu41);
}
