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
  unsigned long long alu10 = alu7 ? 2734261102ull : (alu8 ? 1313084713ull : (alu9 ? 4230436817ull : 4113882560ull));
  unsigned long long cast2 = (unsigned long long)(alu3 & 31);
  unsigned long long alu11 = alu7 ? 1313084713ull : (alu8 ? 4230436817ull : (alu9 ? 4113882560ull : 3680671129ull));
  unsigned long long alu12 = (alu5 ? 0ull : (alu6 ? 2734261102ull : alu11)) << cast2;
  unsigned long long alu13 = (alu5 ? 0ull : (alu6 ? 0ull : alu10)) << cast2 | (alu12 >> 32ull);
  unsigned long long alu14 = alu7 ? 4230436817ull : (alu8 ? 4113882560ull : (alu9 ? 3680671129ull : 1011060801ull));
  unsigned long long alu15 = (alu5 ? 2734261102ull : (alu6 ? 1313084713ull : alu14)) << cast2;
  unsigned long long alu16 = (alu13 & 4294967295ull) << 32ull | ((alu12 | (alu15 >> 32ull)) & 4294967295ull);
  unsigned long long alu17 = alu7 ? 4113882560ull : (alu8 ? 3680671129ull : (alu9 ? 1011060801ull : 4266746795ull));
  unsigned long long alu18 = ((alu5 ? 1313084713ull : (alu6 ? 4230436817ull : alu17)) << cast2) >> 32ull;
  unsigned long long alu19 = cast1 * alu16 + ((cast1 * ((alu15 | alu18) & 4294967295ull)) >> 32ull);
  unsigned long long alu20 = (alu19 + 2305843009213693952ull) >> 62ull;
  int cast3 = (int)alu20;
  double alu21 = (double)(long long)(alu19 - (alu20 << 62ull)) * 3.4061215800865545e-19;
  float cast4 = (float)alu21;
  float alu22 = cast4 * cast4;
  float alu23 = alu22 * 0.5f;
  float alu24 = 1.0f - alu23;
  float alu25 = fmaf(fmaf(2.4547719e-5f, alu22, (-0.0013888302f)), alu22, 0.041666664f);
  float cast5 = (float)(alu21 - (double)cast4);
  float alu26 = 1.0f - alu24 - alu23 + fmaf(alu25 * alu22, alu22, -(cast4 * cast5));
  float alu27 = fmaf(fmaf(2.7249612e-6f, alu22, (-0.00019840084f)), alu22, 0.008333332f);
  float alu28 = cast4 + fmaf(fmaf(alu27, alu22, (-0.16666667f)) * alu22, cast4, cast5);
  float alu29 = ((cast3 & 1) != 0) ? alu24 + alu26 : alu28;
  float alu30 = ((cast3 & 2) != 0) ? -alu29 : alu29;
  float alu31 = (alu1 < __int_as_float(0x7f800000)) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu30 : alu30)) : __int_as_float(0x7fc00000);
  data0[lidx0] = alu31;
}
