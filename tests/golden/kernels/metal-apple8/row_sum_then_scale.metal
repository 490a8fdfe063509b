// grid (64, 1, 1), group (32, 1, 1); opts: Opt(VECTOR, 1, 4), Opt(GROUP, 1, 32)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_64_32_2_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 256 + lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    float4 val0 = float4(*(device const packed_float4*)(data1 + alu0 + ridx2 * 128));
    acc0 = acc0 + val0.x;
    acc1 = acc1 + val0.y;
    acc2 = acc2 + val0.z;
    acc3 = acc3 + val0.w;
  }
  float alu1 = acc0 + acc1 + (acc2 + acc3);
  float other0 = simd_shuffle_xor(alu1, ushort(1));
  float alu2 = alu1 + other0;
  float other1 = simd_shuffle_xor(alu2, ushort(2));
  float alu3 = alu2 + other1;
  float other2 = simd_shuffle_xor(alu3, ushort(4));
  float alu4 = alu3 + other2;
  float other3 = simd_shuffle_xor(alu4, ushort(8));
  float alu5 = alu4 + other3;
  float other4 = simd_shuffle_xor(alu5, ushort(16));
  if (lidx0 < 1) data0[gidx0] = (alu5 + other4) * 0.5f;
}
