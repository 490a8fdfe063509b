// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(GROUP, 1, 32), Opt(GROUP, 2, 32), Opt(GROUP, 3, 32)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_64_32_32_32_4_4_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 128 + lidx0 * 4;
  float4 val0 = float4(*(device const packed_float4*)(data1 + alu0));
  float alu1 = val0.x + val0.y + (val0.z + val0.w);
  float other0 = simd_shuffle_xor(alu1, ushort(1));
  float alu2 = alu1 + other0;
  float other1 = simd_shuffle_xor(alu2, ushort(2));
  float alu3 = alu2 + other1;
  float other2 = simd_shuffle_xor(alu3, ushort(4));
  float alu4 = alu3 + other2;
  float other3 = simd_shuffle_xor(alu4, ushort(8));
  float alu5 = alu4 + other3;
  float other4 = simd_shuffle_xor(alu5, ushort(16));
  float alu6 = (alu5 + other4) / 128.0f;
  float alu7 = val0.x - alu6;
  float alu8 = val0.y - alu6;
  float alu9 = val0.z - alu6;
  float alu10 = val0.w - alu6;
  float alu11 = alu7 * alu7 + alu8 * alu8 + (alu9 * alu9 + alu10 * alu10);
  float other5 = simd_shuffle_xor(alu11, ushort(1));
  float alu12 = alu11 + other5;
  float other6 = simd_shuffle_xor(alu12, ushort(2));
  float alu13 = alu12 + other6;
  float other7 = simd_shuffle_xor(alu13, ushort(4));
  float alu14 = alu13 + other7;
  float other8 = simd_shuffle_xor(alu14, ushort(8));
  float alu15 = alu14 + other8;
  float other9 = simd_shuffle_xor(alu15, ushort(16));
  float alu16 = 1.0f / precise::sqrt((alu15 + other9) / 128.0f + 1.0e-5f);
  *(device packed_float4*)(data0 + alu0) = float4(alu7 * alu16, alu8 * alu16, alu9 * alu16, alu10 * alu16);
}
