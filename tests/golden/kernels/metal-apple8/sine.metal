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
  bool alu0 = val0 < 0.0f;
  float alu1 = alu0 ? -val0 : val0;
  int cast0 = as_type<int>(val0);
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
  ulong alu17 = (ulong)alu14 << 32ul | (ulong)(alu13 << cast2 | ((alu16 >> 1u) >> cast3));
  uint alu18 = alu7 ? 4113882560u : (alu8 ? 3680671129u : (alu9 ? 1011060801u : 4266746795u));
  uint alu19 = ((alu5 ? 1313084713u : (alu6 ? 4230436817u : alu18)) >> 1u) >> cast3;
  ulong alu20 = cast1 * alu17 + ((cast1 * (ulong)(alu16 << cast2 | alu19)) >> 32ul);
  ulong alu21 = (alu20 + 2305843009213693952ul) >> 62ul;
  int cast4 = (int)alu21;
  long cast5 = (long)(alu20 - (alu21 << 62ul));
  float cast6 = (float)cast5;
  float alu22 = cast6 * 2.1684043e-19f;
  float alu23 = alu22 * 1.5707964f;
  float alu24 = alu23 * alu23;
  float alu25 = alu24 * 0.5f;
  float alu26 = 1.0f - alu25;
  float alu27 = fma(fma(2.4547719e-5f, alu24, (-0.0013888302f)), alu24, 0.041666664f);
  float alu28 = (float)(cast5 - i64_from_f32(cast6)) * 2.1684043e-19f * 1.5707964f;
  float alu29 = alu22 * (-4.371139e-8f) + alu28 + fma(alu22, 1.5707964f, -alu23);
  float alu30 = 1.0f - alu26 - alu25 + fma(alu27 * alu24, alu24, -(alu23 * alu29));
  float alu31 = fma(fma(2.7249612e-6f, alu24, (-0.00019840084f)), alu24, 0.008333332f);
  float alu32 = alu23 + fma(fma(alu31, alu24, (-0.16666667f)) * alu24, alu23, alu29);
  float alu33 = ((cast4 & 1) != 0) ? alu26 + alu30 : alu32;
  float alu34 = ((cast4 & 2) != 0) ? -alu33 : alu33;
  data0[lidx0] = (alu1 < INFINITY) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu34 : alu34)) : NAN;
}
