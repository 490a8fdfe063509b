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
  ulong alu10 = alu7 ? 2734261102ul : (alu8 ? 1313084713ul : (alu9 ? 4230436817ul : 4113882560ul));
  ulong cast2 = (ulong)(alu3 & 31);
  ulong alu11 = alu7 ? 1313084713ul : (alu8 ? 4230436817ul : (alu9 ? 4113882560ul : 3680671129ul));
  ulong alu12 = (alu5 ? 0ul : (alu6 ? 2734261102ul : alu11)) << cast2;
  ulong alu13 = ((alu5 ? 0ul : (alu6 ? 0ul : alu10)) << cast2 | (alu12 >> 32ul)) & 4294967295ul;
  ulong alu14 = alu7 ? 4230436817ul : (alu8 ? 4113882560ul : (alu9 ? 3680671129ul : 1011060801ul));
  ulong alu15 = (alu5 ? 2734261102ul : (alu6 ? 1313084713ul : alu14)) << cast2;
  ulong alu16 = cast1 * (alu13 << 32ul | ((alu12 | (alu15 >> 32ul)) & 4294967295ul));
  ulong alu17 = alu7 ? 4113882560ul : (alu8 ? 3680671129ul : (alu9 ? 1011060801ul : 4266746795ul));
  ulong alu18 = ((alu5 ? 1313084713ul : (alu6 ? 4230436817ul : alu17)) << cast2) >> 32ul;
  ulong alu19 = alu16 + ((cast1 * ((alu15 | alu18) & 4294967295ul)) >> 32ul);
  ulong alu20 = (alu19 + 2305843009213693952ul) >> 62ul;
  int cast3 = (int)alu20;
  long cast4 = (long)(alu19 - (alu20 << 62ul));
  float cast5 = (float)cast4;
  float alu21 = cast5 * 2.1684043e-19f;
  float alu22 = alu21 * 1.5707964f;
  float alu23 = alu22 * alu22;
  float alu24 = alu23 * 0.5f;
  float alu25 = 1.0f - alu24;
  float alu26 = fma(fma(2.4547719e-5f, alu23, (-0.0013888302f)), alu23, 0.041666664f);
  float alu27 = (float)(cast4 - i64_from_f32(cast5)) * 2.1684043e-19f * 1.5707964f;
  float alu28 = alu21 * (-4.371139e-8f) + alu27 + fma(alu21, 1.5707964f, -alu22);
  float alu29 = 1.0f - alu25 - alu24 + fma(alu26 * alu23, alu23, -(alu22 * alu28));
  float alu30 = fma(fma(2.7249612e-6f, alu23, (-0.00019840084f)), alu23, 0.008333332f);
  float alu31 = alu22 + fma(fma(alu30, alu23, (-0.16666667f)) * alu23, alu22, alu28);
  float alu32 = ((cast3 & 1) != 0) ? alu25 + alu29 : alu31;
  float alu33 = ((cast3 & 2) != 0) ? -alu32 : alu32;
  data0[lidx0] = (alu1 < INFINITY) ? ((alu1 < 0.00012207031f) ? val0 : (alu0 ? -alu33 : alu33)) : NAN;
}
