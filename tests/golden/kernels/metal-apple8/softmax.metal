// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(GROUP, 1, 32), Opt(GROUP, 2, 32), Opt(GROUP, 3, 32)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_64_32_32_32_4_4_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 128 + lidx0 * 4;
  float4 val0 = float4(*(device const packed_float4*)(data1 + alu0));
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
  float alu7 = val0.x - alu6;
  float alu8 = alu7 * 1.442695f;
  float alu9 = (alu8 < (-154.0f)) ? (-154.0f) : alu8;
  float alu10 = (154.0f < alu9) ? 154.0f : alu9;
  float alu11 = alu10 + 12582912.0f;
  float alu12 = alu10 - (alu11 - 12582912.0f);
  float alu13 = fma(fma(0.00015475962f, alu12, 0.0013399613f), alu12, 0.009618006f);
  float alu14 = fma(fma(fma(alu13, alu12, 0.0555033f), alu12, 0.2402265f), alu12, 0.6931472f);
  int cast0 = as_type<int>(12582912.0f);
  int alu15 = as_type<int>(alu11) - cast0;
  int alu16 = alu15 >> 1;
  float alu17 = fma(alu12, alu14,
      1.0f) * as_type<float>((alu16 + 127) << 23) * as_type<float>((alu15 - alu16 + 127) << 23);
  float alu18 = fma(alu7, 1.925963e-8f, fma(alu7, 1.442695f, -alu8));
  float alu19 = alu17 * ((alu18 * alu18 < 1.0f) ? fma(alu18, 0.6931472f, 1.0f) : 1.0f);
  float alu20 = val0.y - alu6;
  float alu21 = alu20 * 1.442695f;
  float alu22 = (alu21 < (-154.0f)) ? (-154.0f) : alu21;
  float alu23 = (154.0f < alu22) ? 154.0f : alu22;
  float alu24 = alu23 + 12582912.0f;
  float alu25 = alu23 - (alu24 - 12582912.0f);
  float alu26 = fma(fma(0.00015475962f, alu25, 0.0013399613f), alu25, 0.009618006f);
  float alu27 = fma(fma(fma(alu26, alu25, 0.0555033f), alu25, 0.2402265f), alu25, 0.6931472f);
  int alu28 = as_type<int>(alu24) - cast0;
  int alu29 = alu28 >> 1;
  float alu30 = fma(alu25, alu27,
      1.0f) * as_type<float>((alu29 + 127) << 23) * as_type<float>((alu28 - alu29 + 127) << 23);
  float alu31 = fma(alu20, 1.925963e-8f, fma(alu20, 1.442695f, -alu21));
  float alu32 = alu30 * ((alu31 * alu31 < 1.0f) ? fma(alu31, 0.6931472f, 1.0f) : 1.0f);
  float alu33 = val0.z - alu6;
  float alu34 = alu33 * 1.442695f;
  float alu35 = (alu34 < (-154.0f)) ? (-154.0f) : alu34;
  float alu36 = (154.0f < alu35) ? 154.0f : alu35;
  float alu37 = alu36 + 12582912.0f;
  float alu38 = alu36 - (alu37 - 12582912.0f);
  float alu39 = fma(fma(0.00015475962f, alu38, 0.0013399613f), alu38, 0.009618006f);
  float alu40 = fma(fma(fma(alu39, alu38, 0.0555033f), alu38, 0.2402265f), alu38, 0.6931472f);
  int alu41 = as_type<int>(alu37) - cast0;
  int alu42 = alu41 >> 1;
  float alu43 = fma(alu38, alu40,
      1.0f) * as_type<float>((alu42 + 127) << 23) * as_type<float>((alu41 - alu42 + 127) << 23);
  float alu44 = fma(alu33, 1.925963e-8f, fma(alu33, 1.442695f, -alu34));
  float alu45 = alu43 * ((alu44 * alu44 < 1.0f) ? fma(alu44, 0.6931472f, 1.0f) : 1.0f);
  float alu46 = val0.w - alu6;
  float alu47 = alu46 * 1.442695f;
  float alu48 = (alu47 < (-154.0f)) ? (-154.0f) : alu47;
  float alu49 = (154.0f < alu48) ? 154.0f : alu48;
  float alu50 = alu49 + 12582912.0f;
  float alu51 = alu49 - (alu50 - 12582912.0f);
  float alu52 = fma(fma(0.00015475962f, alu51, 0.0013399613f), alu51, 0.009618006f);
  float alu53 = fma(fma(fma(alu52, alu51, 0.0555033f), alu51, 0.2402265f), alu51, 0.6931472f);
  int alu54 = as_type<int>(alu50) - cast0;
  int alu55 = alu54 >> 1;
  float alu56 = fma(alu51, alu53,
      1.0f) * as_type<float>((alu55 + 127) << 23) * as_type<float>((alu54 - alu55 + 127) << 23);
  float alu57 = fma(alu46, 1.925963e-8f, fma(alu46, 1.442695f, -alu47));
  float alu58 = alu56 * ((alu57 * alu57 < 1.0f) ? fma(alu57, 0.6931472f, 1.0f) : 1.0f);
  float alu59 = alu19 + alu32 + (alu45 + alu58);
  float other5 = simd_shuffle_xor(alu59, ushort(1));
  float alu60 = alu59 + other5;
  float other6 = simd_shuffle_xor(alu60, ushort(2));
  float alu61 = alu60 + other6;
  float other7 = simd_shuffle_xor(alu61, ushort(4));
  float alu62 = alu61 + other7;
  float other8 = simd_shuffle_xor(alu62, ushort(8));
  float alu63 = alu62 + other8;
  float other9 = simd_shuffle_xor(alu63, ushort(16));
  float alu64 = alu63 + other9;
  *(device packed_float4*)(data0 + alu0) = float4(alu19 / alu64, alu32 / alu64, alu45 / alu64, alu58 / alu64);
}
