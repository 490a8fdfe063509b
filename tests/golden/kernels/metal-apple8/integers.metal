// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64(device char* data0 [[buffer(0)]], device const int* data1 [[buffer(1)]],
    device const int* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  int val0 = data1[lidx0];
  int alu0 = data2[lidx0] % 5;
  data0[lidx0] = (char)(val0 / 7 - (int)(val0 % 7 < 0) + (alu0 + ((alu0 < 0) ? 5 : 0)));
}

// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64(device long* data0 [[buffer(0)]], device const long* data1 [[buffer(1)]],
    device const long* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  data0[lidx0] = (long)((ulong)data1[lidx0] * 3ul - (ulong)data2[lidx0]);
}
