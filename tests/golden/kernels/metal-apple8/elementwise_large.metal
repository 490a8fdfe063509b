// grid (64, 1, 1), group (256, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 256)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(256)]]
void E_64_256_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 1024 + lidx0 * 4;
  float4 val0 = float4(*(device const packed_float4*)(data1 + alu0));
  float4 val1 = float4(*(device const packed_float4*)(data2 + alu0));
  float4 alu1 = float4(val0.x + val1.x * 2.0f, val0.y + val1.y * 2.0f, val0.z + val1.z * 2.0f,
      val0.w + val1.w * 2.0f);
  *(device packed_float4*)(data0 + alu0) = alu1;
}
