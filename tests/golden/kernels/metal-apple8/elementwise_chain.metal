// grid None, group (12, 1, 1); opts: Opt(LOCAL, 0, 12)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(12)]]
void E_12(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  float alu0 = data1[lidx0] * data2[lidx0] + 1.0f;
  data0[lidx0] = precise::sqrt(max_f32(0.0f - alu0, alu0));
}
