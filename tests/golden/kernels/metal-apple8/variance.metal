// grid (3, 1, 1), group (8, 1, 1); opts: Opt(GROUP, 2, 8), Opt(GROUP, 2, 8)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(8)]]
void r_3_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  float val0 = data1[gidx0 * 8 + lidx0];
  float other0 = simd_shuffle_xor(val0, ushort(1));
  float alu0 = val0 + other0;
  float other1 = simd_shuffle_xor(alu0, ushort(2));
  float alu1 = alu0 + other1;
  float other2 = simd_shuffle_xor(alu1, ushort(4));
  float alu2 = val0 - (alu1 + other2) / 8.0f;
  float alu3 = alu2 * alu2;
  float other3 = simd_shuffle_xor(alu3, ushort(1));
  float alu4 = alu3 + other3;
  float other4 = simd_shuffle_xor(alu4, ushort(2));
  float alu5 = alu4 + other4;
  float other5 = simd_shuffle_xor(alu5, ushort(4));
  if (lidx0 < 1) data0[gidx0] = (alu5 + other5) / 7.0f;
}
