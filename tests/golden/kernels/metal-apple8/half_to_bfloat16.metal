// grid None, group (64, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64_4(device bfloat* data0 [[buffer(0)]], device const half* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  int alu0 = lidx0 * 4;
  half4 val0 = half4(*(device const packed_half4*)(data1 + alu0));
  bfloat4 alu1 = bfloat4((bfloat)((float)(val0.x * ((half)2.0f))), (bfloat)((float)(val0.y * ((half)2.0f))),
      (bfloat)((float)(val0.z * ((half)2.0f))), (bfloat)((float)(val0.w * ((half)2.0f))));
  *(device packed_bfloat4*)(data0 + alu0) = alu1;
}
