// opts: Opt(GROUP, 1, 8), Opt(GROUP, 2, 8), Opt(GROUP, 3, 8)
#include <metal_stdlib>
using namespace metal;
kernel void r_3_8_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  threadgroup float shared0[8];
  threadgroup float shared1[8];
  float acc0;
  float acc1;
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 8 + lidx0;
  float val0 = data1[alu0];
  shared0[lidx0] = val0;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  acc0 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc0 = acc0 + shared0[ridx4];
  }
  float alu1 = val0 - acc0 / 8.0f;
  shared1[lidx0] = alu1 * alu1;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  acc1 = 0.0f;
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc1 = acc1 + shared1[ridx5];
  }
  data0[alu0] = alu1 * (1.0f / precise::sqrt(acc1 / 8.0f + 1.0e-5f));
}
