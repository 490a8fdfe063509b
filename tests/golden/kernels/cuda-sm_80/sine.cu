// grid None, block (64, 1, 1); opts: Opt(LOCAL, 0, 64)
__device__ inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
extern "C" __global__ void __launch_bounds__(64) E_64(float* __restrict__ data0,
    const float* __restrict__ data1) {
  int lidx0 = threadIdx.x;
  float val0 = data1[lidx0];
  bool alu0 = val0 < 0.0f;
  float alu1 = alu0 ? -val0 : val0;
  int cast0 = bits_f32_i32(val0);
  unsigned long long cast1 = (unsigned long long)(cast0 & 8388607 | 8388608);
  int alu2 = (cast0 >> 23 & 255) - 88;
  int alu3 = (alu2 < 0) ? 0 : alu2;
  int alu4 = alu3 >> 5;
  bool alu5 = alu4 == 0;
  bool alu6 = alu4 == 1;
  bool alu7 = alu4 == 2;
  bool alu8 = alu4 == 3;
  bool alu9 = alu4 == 4;
  unsigned int alu10 = alu7 ? 2734261102u : (alu8 ? 1313084713u : (alu9 ? 4230436817u : 4113882560u));
  int alu11 = alu3 & 31;
  unsigned int cast2 = (unsigned int)alu11;
  unsigned int alu12 = alu7 ? 1313084713u : (alu8 ? 4230436817u : (alu9 ? 4113882560u : 3680671129u));
  unsigned int alu13 = alu5 ? 0u : (alu6 ? 2734261102u : alu12);
  unsigned int cast3 = (unsigned int)(31 - alu11);
  unsigned int alu14 = (alu5 ? 0u : (alu6 ? 0u : alu10)) << cast2 | ((alu13 >> 1u) >> cast3);
  unsigned int alu15 = alu7 ? 4230436817u : (alu8 ? 4113882560u : (alu9 ? 3680671129u : 1011060801u));
  unsigned int alu16 = alu5 ? 2734261102u : (alu6 ? 1313084713u : alu15);
  unsigned long long alu17 = (unsigned long long)alu14 << 32ull | (unsigned long long)(alu13 << cast2 | ((alu16 >> 1u) >> cast3));
  unsigned int alu18 = alu7 ? 4113882560u : (alu8 ? 3680671129u : (alu9 ? 1011060801u : 4266746795u));
  unsigned int alu19 = ((alu5 ? 1313084713u : (alu6 ? 4230436817u : alu18)) >> 1u) >> cast3;
  unsigned long long alu20 = cast1 * alu17 + ((cast1 * (unsigned long long)(alu16 << cast2 | alu19)) >> 32ull);
  unsigned long long alu21 = (alu20 + 2305843009213693952ull) >> 62ull;
  int cast4 = (int)alu21;
  double alu22 = (double)(long long)(alu20 - (alu21 << 62ull)) * 3.4061215800865545e-19;
  float cast5 = (float)alu22;
  float alu23 = cast5 * cast5;
  float alu24 = alu23 * 0.5f;
  float alu25 = 1.0f - alu24;
  float alu26 = fmaf(fmaf(2.4547719e-5f, alu23, (-0.0013888302f)), alu23, 0.041666664f);
  float cast6 = (float)(alu22 - (double)cast5);
  float alu27 = 1.0f - alu25 - alu24 + fmaf(alu26 * alu23, alu23, -(cast5 * cast6));
  float alu28 = fmaf(fmaf(2.7249612e-6f, alu23, (-0.00019840084f)), alu23, 0.008333332f);
  float alu29 = cast5 + fmaf(fmaf(alu28, alu23, (-0.16666667f)) * alu23, cast5, cast6);
  float alu30 = ((cast4 & 1) != 0) ? alu25 + alu27 : alu29;
  float alu31 = ((cast4 & 2) != 0) ? -alu30 : alu30;
  float alu32 = (alu1 < __int_as_float(0x7f800000)) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu31 : alu31)) : __int_as_float(0x7fc00000);
  data0[lidx0] = alu32;
}
