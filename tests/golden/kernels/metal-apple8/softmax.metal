// opts: Opt(GROUP, 2, 8), Opt(GROUP, 1, 8), Opt(GROUP, 3, 8), Opt(GROUP, 4, 8)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
kernel void r_3_8_8_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  threadgroup float shared0[8];
  threadgroup float shared1[8];
  threadgroup float shared2[8];
  float acc0;
  float acc1;
  int gidx0 = int(group.x);
  int lidx0 = int(item.x);
  int alu0 = gidx0 * 8 + lidx0;
  float val0 = data1[alu0];
  shared1[lidx0] = val0;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  acc0 = (-INFINITY);
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc0 = max_f32(acc0, shared1[ridx5]);
  }
  float alu1 = val0 - acc0;
  float alu2 = alu1 * 1.442695f;
  float alu3 = (alu2 < (-154.0f)) ? (-154.0f) : alu2;
  float alu4 = (154.0f < alu3) ? 154.0f : alu3;
  float alu5 = alu4 + 12582912.0f;
  float alu6 = alu4 - (alu5 - 12582912.0f);
  float alu7 = fma(fma(0.00015475962f, alu6, 0.0013399613f), alu6, 0.009618006f);
  float alu8 = fma(fma(fma(alu7, alu6, 0.0555033f), alu6, 0.2402265f), alu6, 0.6931472f);
  int alu9 = as_type<int>(alu5) - as_type<int>(12582912.0f);
  int alu10 = alu9 >> 1;
  float alu11 = fma(alu6, alu8,
      1.0f) * as_type<float>((alu10 + 127) << 23) * as_type<float>((alu9 - alu10 + 127) << 23);
  float alu12 = fma(alu1, 1.925963e-8f, fma(alu1, 1.442695f, -alu2));
  shared0[lidx0] = alu11 * ((alu12 * alu12 < 1.0f) ? fma(alu12, 0.6931472f, 1.0f) : 1.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  float val1 = shared0[lidx0];
  shared2[lidx0] = val1;
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  acc1 = 0.0f;
  for (int ridx6 = 0; ridx6 < 8; ridx6++) {
    acc1 = acc1 + shared2[ridx6];
  }
  data0[alu0] = val1 / acc1;
}
