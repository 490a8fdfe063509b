// opts: none
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
kernel void r_3_8_8_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc1;
  float row0[8];
  float acc2;
  acc1 = (-INFINITY);
  int gidx0 = int(group.x);
  int alu0 = gidx0 * 8;
  for (int ridx3 = 0; ridx3 < 8; ridx3++) {
    acc1 = max_f32(acc1, data1[alu0 + ridx3]);
  }
  float val0 = acc1;
  int cast0 = as_type<int>(12582912.0f);
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    float alu1 = data1[alu0 + ridx2] - val0;
    float alu2 = alu1 * 1.442695f;
    float alu3 = (alu2 < (-154.0f)) ? (-154.0f) : alu2;
    float alu4 = (154.0f < alu3) ? 154.0f : alu3;
    float alu5 = alu4 + 12582912.0f;
    float alu6 = alu4 - (alu5 - 12582912.0f);
    float alu7 = fma(fma(0.00015475962f, alu6, 0.0013399613f), alu6, 0.009618006f);
    float alu8 = fma(fma(fma(alu7, alu6, 0.0555033f), alu6, 0.2402265f), alu6, 0.6931472f);
    int alu9 = as_type<int>(alu5) - cast0;
    int alu10 = alu9 >> 1;
    float alu11 = fma(alu6, alu8,
        1.0f) * as_type<float>((alu10 + 127) << 23) * as_type<float>((alu9 - alu10 + 127) << 23);
    float alu12 = fma(alu1, 1.925963e-8f, fma(alu1, 1.442695f, -alu2));
    row0[ridx2] = alu11 * ((alu12 * alu12 < 1.0f) ? fma(alu12, 0.6931472f, 1.0f) : 1.0f);
  }
  acc2 = 0.0f;
  for (int ridx4 = 0; ridx4 < 8; ridx4++) {
    acc2 = acc2 + row0[ridx4];
  }
  float val1 = acc2;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    data0[alu0 + ridx1] = row0[ridx1] / val1;
  }
}
