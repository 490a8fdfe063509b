// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
static inline long i64_from_f32(float x) {
  x = (x >= (-9.223372e18f)) & (x < 9.223372e18f) ? x : (-9.223372e18f);
  return (long)(x);
}
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  float val0 = data1[lidx0];
  int cast0 = as_type<int>(val0);
  int alu0 = cast0 & 2147483647;
  bool alu1 = alu0 < as_type<int>(131072.0f);
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
  ulong alu19 = (ulong)alu16 << 32ul | (ulong)(alu15 << cast2 | ((alu18 >> 1u) >> cast3));
  uint alu20 = alu9 ? 4113882560u : (alu10 ? 3680671129u : (alu11 ? 1011060801u : 4266746795u));
  uint alu21 = ((alu7 ? 1313084713u : (alu8 ? 4230436817u : alu20)) >> 1u) >> cast3;
  ulong alu22 = cast1 * alu19 + ((cast1 * (ulong)(alu18 << cast2 | alu21)) >> 32ul);
  ulong alu23 = (alu22 + 2305843009213693952ul) >> 62ul;
  int cast4 = (int)alu23;
  int alu24 = alu1 ? as_type<int>(alu2) : (alu3 ? -cast4 : cast4);
  float alu25 = 12582912.0f - alu2;
  float alu26 = fma(alu25, 1.5707964f, val0);
  float alu27 = alu25 * (-4.371139e-8f);
  float alu28 = alu26 + alu27;
  long cast5 = (long)(alu22 - (alu23 << 62ul));
  float cast6 = (float)cast5;
  float alu29 = cast6 * 2.1684043e-19f;
  float alu30 = alu29 * 1.5707964f;
  float alu31 = -alu30;
  float alu32 = alu1 ? alu28 : ((alu0 < as_type<int>(INFINITY)) ? (alu3 ? alu31 : alu30) : NAN);
  float alu33 = alu32 * alu32;
  float alu34 = alu33 * 0.5f;
  float alu35 = 1.0f - alu34;
  float alu36 = fma(fma(2.4547719e-5f, alu33, (-0.0013888302f)), alu33, 0.041666664f);
  float alu37 = fma(alu25, (-1.7151245e-15f), fma(alu25, (-4.371139e-8f), -alu27));
  float alu38 = alu28 - alu26;
  float alu39 = (float)(long)((ulong)cast5 - (ulong)i64_from_f32(cast6)) * 2.1684043e-19f;
  float alu40 = alu29 * (-4.371139e-8f) + alu39 * 1.5707964f + fma(alu29, 1.5707964f, alu31);
  float alu41 = alu1 ? alu37 + (alu26 - (alu28 - alu38) + (alu27 - alu38)) : (alu3 ? -alu40 : alu40);
  float alu42 = 1.0f - alu35 - alu34 + fma(alu36 * alu33, alu33, -(alu32 * alu41));
  float alu43 = fma(fma(2.7249612e-6f, alu33, (-0.00019840084f)), alu33, 0.008333332f);
  float alu44 = alu32 + fma(fma(alu43, alu33, (-0.16666667f)) * alu33, alu32, alu41);
  float alu45 = ((alu24 & 1) != 0) ? alu35 + alu42 : alu44;
  data0[lidx0] = (alu0 < as_type<int>(0.00012207031f)) ? val0 : (((alu24 & 2) != 0) ? -alu45 : alu45);
}
