// grid None, block (64, 1, 1); opts: Opt(LOCAL, 0, 64)
__device__ inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
extern "C" __global__ void __launch_bounds__(64) E_64(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  float val0 = data1[lidx0];
  int cast0 = bits_f32_i32(val0);
  int alu0 = cast0 & 2147483647;
  bool alu1 = alu0 < bits_f32_i32(131072.0f);
  float alu2 = fmaf(val0, 0.63661975f, 12582912.0f);
  bool alu3 = val0 < 0.0f;
  unsigned long long cast1 = (unsigned long long)(cast0 & 8388607 | 8388608);
  int alu4 = (cast0 >> 23 & 255) - 88;
  int alu5 = (alu4 < 0) ? 0 : alu4;
  int alu6 = alu5 >> 5;
  bool alu7 = alu6 == 0;
  bool alu8 = alu6 == 1;
  bool alu9 = alu6 == 2;
  bool alu10 = alu6 == 3;
  bool alu11 = alu6 == 4;
  unsigned int alu12 = alu9 ? 2734261102u : (alu10 ? 1313084713u : (alu11 ? 4230436817u : 4113882560u));
  int alu13 = alu5 & 31;
  unsigned int cast2 = (unsigned int)alu13;
  unsigned int alu14 = alu9 ? 1313084713u : (alu10 ? 4230436817u : (alu11 ? 4113882560u : 3680671129u));
  unsigned int alu15 = alu7 ? 0u : (alu8 ? 2734261102u : alu14);
  unsigned int cast3 = (unsigned int)(31 - alu13);
  unsigned int alu16 = (alu7 ? 0u : (alu8 ? 0u : alu12)) << cast2 | ((alu15 >> 1u) >> cast3);
  unsigned int alu17 = alu9 ? 4230436817u : (alu10 ? 4113882560u : (alu11 ? 3680671129u : 1011060801u));
  unsigned int alu18 = alu7 ? 2734261102u : (alu8 ? 1313084713u : alu17);
  unsigned long long alu19 = (unsigned long long)alu16 << 32ull | (unsigned long long)(alu15 << cast2 | ((alu18 >> 1u) >> cast3));
  unsigned int alu20 = alu9 ? 4113882560u : (alu10 ? 3680671129u : (alu11 ? 1011060801u : 4266746795u));
  unsigned int alu21 = ((alu7 ? 1313084713u : (alu8 ? 4230436817u : alu20)) >> 1u) >> cast3;
  unsigned long long alu22 = cast1 * alu19 + ((cast1 * (unsigned long long)(alu18 << cast2 | alu21)) >> 32ull);
  unsigned long long alu23 = (alu22 + 2305843009213693952ull) >> 62ull;
  int cast4 = (int)alu23;
  int alu24 = alu1 ? bits_f32_i32(alu2) : (alu3 ? -cast4 : cast4);
  float alu25 = 12582912.0f - alu2;
  float alu26 = fmaf(alu25, 1.5707964f, val0);
  float alu27 = alu25 * (-4.371139e-8f);
  float alu28 = alu26 + alu27;
  double alu29 = (double)(long long)(alu22 - (alu23 << 62ull)) * 3.4061215800865545e-19;
  float cast5 = (float)alu29;
  float alu30 = (alu0 < bits_f32_i32(__int_as_float(0x7f800000))) ? (alu3 ? -cast5 : cast5) : __int_as_float(0x7fc00000);
  float alu31 = alu1 ? alu28 : alu30;
  float alu32 = alu31 * alu31;
  float alu33 = alu32 * 0.5f;
  float alu34 = 1.0f - alu33;
  float alu35 = fmaf(fmaf(2.4547719e-5f, alu32, (-0.0013888302f)), alu32, 0.041666664f);
  float alu36 = fmaf(alu25, (-1.7151245e-15f), fmaf(alu25, (-4.371139e-8f), -alu27));
  float alu37 = alu28 - alu26;
  float cast6 = (float)(alu29 - (double)cast5);
  float alu38 = alu1 ? alu36 + (alu26 - (alu28 - alu37) + (alu27 - alu37)) : (alu3 ? -cast6 : cast6);
  float alu39 = 1.0f - alu34 - alu33 + fmaf(alu35 * alu32, alu32, -(alu31 * alu38));
  float alu40 = fmaf(fmaf(2.7249612e-6f, alu32, (-0.00019840084f)), alu32, 0.008333332f);
  float alu41 = alu31 + fmaf(fmaf(alu40, alu32, (-0.16666667f)) * alu32, alu31, alu38);
  float alu42 = ((alu24 & 1) != 0) ? alu34 + alu39 : alu41;
  data0[lidx0] = (alu0 < bits_f32_i32(0.00012207031f)) ? val0 : (((alu24 & 2) != 0) ? -alu42 : alu42);
}
