// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(PADTO, 2, 32), Opt(GROUP, 2, 32), Opt(PADTO, 2, 32), Opt(GROUP, 2, 32)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_64_32_32_4_4(device int* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  bool alu0 = lidx0 < 25;
  int gidx0 = int(group.x);
  int alu1 = lidx0 * 4;
  float4 val0 = alu0 ? float4(*(device const packed_float4*)(data1 + gidx0 * 100 + alu1)) : float4(0.0f);
  float alu2 = max_f32(alu0 ? val0.x : (-INFINITY), alu0 ? val0.y : (-INFINITY));
  float alu3 = max_f32(alu0 ? val0.z : (-INFINITY), alu0 ? val0.w : (-INFINITY));
  float alu4 = max_f32(alu2, alu3);
  float other0 = simd_shuffle_xor(alu4, ushort(1));
  float alu5 = max_f32(alu4, other0);
  float other1 = simd_shuffle_xor(alu5, ushort(2));
  float alu6 = max_f32(alu5, other1);
  float other2 = simd_shuffle_xor(alu6, ushort(4));
  float alu7 = max_f32(alu6, other2);
  float other3 = simd_shuffle_xor(alu7, ushort(8));
  float alu8 = max_f32(alu7, other3);
  float other4 = simd_shuffle_xor(alu8, ushort(16));
  float alu9 = max_f32(alu8, other4);
  int alu10 = (val0.x == alu9 | (val0.x != val0.x)) ? (alu1 ^ (-1)) : (-2147483647 - 1);
  int alu11 = (val0.y == alu9 | (val0.y != val0.y)) ? (alu1 + 1 ^ (-1)) : (-2147483647 - 1);
  int alu12 = max_i32(alu0 ? alu10 : (-2147483647 - 1), alu0 ? alu11 : (-2147483647 - 1));
  int alu13 = (val0.z == alu9 | (val0.z != val0.z)) ? (alu1 + 2 ^ (-1)) : (-2147483647 - 1);
  int alu14 = (val0.w == alu9 | (val0.w != val0.w)) ? (alu1 + 3 ^ (-1)) : (-2147483647 - 1);
  int alu15 = max_i32(alu0 ? alu13 : (-2147483647 - 1), alu0 ? alu14 : (-2147483647 - 1));
  int alu16 = max_i32(alu12, alu15);
  int other5 = simd_shuffle_xor(alu16, ushort(1));
  int alu17 = max_i32(alu16, other5);
  int other6 = simd_shuffle_xor(alu17, ushort(2));
  int alu18 = max_i32(alu17, other6);
  int other7 = simd_shuffle_xor(alu18, ushort(4));
  int alu19 = max_i32(alu18, other7);
  int other8 = simd_shuffle_xor(alu19, ushort(8));
  int alu20 = max_i32(alu19, other8);
  int other9 = simd_shuffle_xor(alu20, ushort(16));
  if (lidx0 < 1) data0[gidx0] = max_i32(alu20, other9) ^ (-1);
}
