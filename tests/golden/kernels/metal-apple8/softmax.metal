// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 3, 4), Opt(GROUP, 2, 32), Opt(GROUP, 1, 32), Opt(GROUP, 5, 32), Opt(GROUP, 6, 32)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_64_4_4_32_32_32_32_4_4(device float* data0 [[buffer(0)]],
    device const float* data1 [[buffer(1)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  bool row0[4];
  float acc1;
  int gidx0 = int(group.x);
  int alu0 = gidx0 * 128;
  int lidx0 = int(item.x);
  float4 val0 = float4(*(device const packed_float4*)(data1 + alu0 + lidx0 * 4));
  float alu1 = max_f32(max_f32(val0.x, val0.y), max_f32(val0.z, val0.w));
  float other0 = simd_shuffle_xor(alu1, ushort(1));
  float alu2 = max_f32(alu1, other0);
  float other1 = simd_shuffle_xor(alu2, ushort(2));
  float alu3 = max_f32(alu2, other1);
  float other2 = simd_shuffle_xor(alu3, ushort(4));
  float alu4 = max_f32(alu3, other2);
  float other3 = simd_shuffle_xor(alu4, ushort(8));
  float alu5 = max_f32(alu4, other3);
  float other4 = simd_shuffle_xor(alu5, ushort(16));
  float alu6 = max_f32(alu5, other4);
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    float alu7 = data1[alu0 + (ridx2 * 32 + lidx0)] - alu6;
    float alu8 = fma(alu7, 1.925963e-8f, fma(alu7, 1.442695f, -(alu7 * 1.442695f)));
    row0[ridx2] = alu8 * alu8 < 1.0f;
  }
  acc1 = 0.0f;
  int cast0 = as_type<int>(12582912.0f);
  for (int ridx7 = 0; ridx7 < 4; ridx7++) {
    float alu9 = data1[alu0 + (ridx7 * 32 + lidx0)] - alu6;
    float alu10 = alu9 * 1.442695f;
    float alu11 = (alu10 < (-154.0f)) ? (-154.0f) : alu10;
    float alu12 = (154.0f < alu11) ? 154.0f : alu11;
    float alu13 = alu12 + 12582912.0f;
    float alu14 = alu12 - (alu13 - 12582912.0f);
    float alu15 = fma(fma(0.00015475962f, alu14, 0.0013399613f), alu14, 0.009618006f);
    float alu16 = fma(fma(fma(alu15, alu14, 0.0555033f), alu14, 0.2402265f), alu14, 0.6931472f);
    int alu17 = as_type<int>(alu13) - cast0;
    int alu18 = alu17 >> 1;
    float alu19 = fma(alu14, alu16,
        1.0f) * as_type<float>((alu18 + 127) << 23) * as_type<float>((alu17 - alu18 + 127) << 23);
    float alu20 = fma(fma(alu9, 1.925963e-8f, fma(alu9, 1.442695f, -alu10)), 0.6931472f, 1.0f);
    acc1 = fma(alu19, row0[ridx7] ? alu20 : 1.0f, acc1);
  }
  float val1 = acc1;
  float other5 = simd_shuffle_xor(val1, ushort(1));
  float alu21 = val1 + other5;
  float other6 = simd_shuffle_xor(alu21, ushort(2));
  float alu22 = alu21 + other6;
  float other7 = simd_shuffle_xor(alu22, ushort(4));
  float alu23 = alu22 + other7;
  float other8 = simd_shuffle_xor(alu23, ushort(8));
  float alu24 = alu23 + other8;
  float other9 = simd_shuffle_xor(alu24, ushort(16));
  float alu25 = alu24 + other9;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    int alu26 = ridx1 * 32;
    float alu27 = data1[alu0 + (alu26 + lidx0)] - alu6;
    float alu28 = alu27 * 1.442695f;
    float alu29 = (alu28 < (-154.0f)) ? (-154.0f) : alu28;
    float alu30 = (154.0f < alu29) ? 154.0f : alu29;
    float alu31 = alu30 + 12582912.0f;
    float alu32 = alu30 - (alu31 - 12582912.0f);
    float alu33 = fma(fma(0.00015475962f, alu32, 0.0013399613f), alu32, 0.009618006f);
    float alu34 = fma(fma(fma(alu33, alu32, 0.0555033f), alu32, 0.2402265f), alu32, 0.6931472f);
    int alu35 = as_type<int>(alu31) - cast0;
    int alu36 = alu35 >> 1;
    float alu37 = fma(alu32, alu34,
        1.0f) * as_type<float>((alu36 + 127) << 23) * as_type<float>((alu35 - alu36 + 127) << 23);
    float alu38 = fma(fma(alu27, 1.925963e-8f, fma(alu27, 1.442695f, -alu28)), 0.6931472f, 1.0f);
    data0[alu0 + alu26 + lidx0] = alu37 * (row0[ridx1] ? alu38 : 1.0f) / alu25;
  }
}
