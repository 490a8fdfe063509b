// grid (16, 2, 1), group (16, 1, 1); opts: Opt(GROUP, 7, 16), Opt(GROUP, 2, 16), Opt(GROUP, 4, 16), Opt(GROUP, 3, 16), Opt(GROUP, 10, 16), Opt(GROUP, 11, 16)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(16)]]
void r_2_16_2_16_16_16_16_16_16_16_16_2(device float* data0 [[buffer(0)]],
    device const float* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]],
    device const float* data3 [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  threadgroup float shared0[16];
  float row2[16];
  float acc3;
  float acc1;
  float acc4;
  int gidx1 = int(group.y);
  int alu0 = gidx1 * 512;
  int gidx0 = int(group.x);
  int alu1 = alu0 + gidx0 * 32;
  int lidx0 = int(item.x);
  for (int ridx3 = 0; ridx3 < 16; ridx3++) {
    acc3 = 0.0f;
    int alu2 = alu0 + ridx3 * 32;
    for (int ridx11 = 0; ridx11 < 2; ridx11++) {
      int alu3 = ridx11 * 16 + lidx0;
      acc3 = fma(data1[alu1 + alu3], data2[alu2 + alu3], acc3);
    }
    float val0 = acc3;
    float other0 = simd_shuffle_xor(val0, ushort(1));
    float alu4 = val0 + other0;
    float other1 = simd_shuffle_xor(alu4, ushort(2));
    float alu5 = alu4 + other1;
    float other2 = simd_shuffle_xor(alu5, ushort(4));
    float alu6 = alu5 + other2;
    float other3 = simd_shuffle_xor(alu6, ushort(8));
    row2[ridx3] = (alu6 + other3) / 5.656854f;
  }
  float val1 = row2[lidx0];
  float other4 = simd_shuffle_xor(val1, ushort(1));
  float alu7 = max_f32(val1, other4);
  float other5 = simd_shuffle_xor(alu7, ushort(2));
  float alu8 = max_f32(alu7, other5);
  float other6 = simd_shuffle_xor(alu8, ushort(4));
  float alu9 = max_f32(alu8, other6);
  float other7 = simd_shuffle_xor(alu9, ushort(8));
  float alu10 = val1 - max_f32(alu9, other7);
  float alu11 = alu10 * 1.442695f;
  float alu12 = (alu11 < (-154.0f)) ? (-154.0f) : alu11;
  float alu13 = (154.0f < alu12) ? 154.0f : alu12;
  float alu14 = alu13 + 12582912.0f;
  float alu15 = alu13 - (alu14 - 12582912.0f);
  float alu16 = fma(fma(0.00015475962f, alu15, 0.0013399613f), alu15, 0.009618006f);
  float alu17 = fma(fma(fma(alu16, alu15, 0.0555033f), alu15, 0.2402265f), alu15, 0.6931472f);
  int alu18 = (int)((uint)as_type<int>(alu14) - (uint)as_type<int>(12582912.0f));
  int alu19 = alu18 >> 1;
  float alu20 = fma(alu15, alu17, 1.0f) * as_type<float>((int)((uint)(alu19 + 127) << 23u));
  float alu21 = alu20 * as_type<float>((int)(((uint)alu18 - (uint)alu19 + 127u) << 23u));
  float alu22 = fma(alu10, 1.925963e-8f, fma(alu10, 1.442695f, -alu11));
  acc1 = alu21 * ((alu22 * alu22 < 1.0f) ? fma(alu22, 0.6931472f, 1.0f) : 1.0f);
  float val2 = acc1;
  float other8 = simd_shuffle_xor(val2, ushort(1));
  float alu23 = val2 + other8;
  float other9 = simd_shuffle_xor(alu23, ushort(2));
  float alu24 = alu23 + other9;
  float other10 = simd_shuffle_xor(alu24, ushort(4));
  float alu25 = alu24 + other10;
  float other11 = simd_shuffle_xor(alu25, ushort(8));
  shared0[lidx0] = val2 / (alu25 + other11);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    acc4 = 0.0f;
    int alu26 = ridx2 * 16 + lidx0;
    int alu27 = alu0 + alu26;
    for (int ridx10 = 0; ridx10 < 16; ridx10++) {
      acc4 = fma(shared0[ridx10], data3[alu27 + ridx10 * 32], acc4);
    }
    data0[alu1 + alu26] = acc4;
  }
}
