// grid (4, 8, 1), group (32, 1, 1); opts: Opt(TC, 2, 1), Opt(SPLIT, 7, 2), Opt(UNROLL, 8, 0)
#include <metal_stdlib>
using namespace metal;
static inline float2 multiply_8x8_f32(float2 a, float2 b, float2 c) {
  simdgroup_float8x8 left, right;
  simdgroup_float8x8 sum;
  left.thread_elements()[0] = a.x;
  left.thread_elements()[1] = a.y;
  right.thread_elements()[0] = b.x;
  right.thread_elements()[1] = b.y;
  sum.thread_elements()[0] = c.x;
  sum.thread_elements()[1] = c.y;
  simdgroup_multiply_accumulate(sum, left, right, sum);
  return float2(sum.thread_elements()[0], sum.thread_elements()[1]);
}
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_8_4_2_2_2_2_2_2_2(device float* data0 [[buffer(0)]], device const ushort* data1 [[buffer(1)]],
    device const ushort* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float2 acc0;
  acc0 = float2(0.0f);
  int lidx0 = int(item.x);
  int alu0 = lidx0 >> 1;
  int alu1 = (alu0 & 1) * 32;
  int alu2 = (lidx0 >> 2 & 1) * 64;
  int alu3 = (lidx0 >> 4) * 128;
  int alu4 = (lidx0 & 1) * 2;
  int alu5 = (lidx0 >> 3 & 1) * 4;
  int gidx1 = int(group.y);
  int alu6 = gidx1 * 256;
  int alu7 = alu1 + alu2 + alu3 + alu4 + alu5 + alu6;
  int gidx0 = int(group.x);
  int alu8 = gidx0 * 8;
  int alu9 = alu4 + alu5 + alu1 + alu2 + alu3 + alu8;
  for (int ridx7 = 0; ridx7 < 2; ridx7++) {
    int alu10 = alu7 + ridx7 * 16;
    ushort2 val0 = ushort2(*(device const packed_ushort2*)(data1 + alu10 + 8));
    uint cast0 = (uint)val0.x;
    uint alu11 = cast0 & 32767u;
    uint alu12 = alu11 << 16u;
    uint alu13 = !(alu11 < 32640u) ? (alu12 | 2139095040u) : as_type<uint>(as_type<float>(alu12));
    uint cast1 = (uint)val0.y;
    uint alu14 = cast1 & 32767u;
    uint alu15 = alu14 << 16u;
    uint alu16 = !(alu14 < 32640u) ? (alu15 | 2139095040u) : as_type<uint>(as_type<float>(alu15));
    float2 alu17 = float2(as_type<float>(alu13 | ((cast0 >> 15u) << 31u)),
        as_type<float>(alu16 | ((cast1 >> 15u) << 31u)));
    int alu18 = alu9 + ridx7 * 512;
    ushort2 val1 = ushort2(*(device const packed_ushort2*)(data2 + alu18 + 256));
    uint cast2 = (uint)val1.x;
    uint alu19 = cast2 & 32767u;
    uint alu20 = alu19 << 16u;
    uint alu21 = !(alu19 < 32640u) ? (alu20 | 2139095040u) : as_type<uint>(as_type<float>(alu20));
    uint cast3 = (uint)val1.y;
    uint alu22 = cast3 & 32767u;
    uint alu23 = alu22 << 16u;
    uint alu24 = !(alu22 < 32640u) ? (alu23 | 2139095040u) : as_type<uint>(as_type<float>(alu23));
    float2 alu25 = float2(as_type<float>(alu21 | ((cast2 >> 15u) << 31u)),
        as_type<float>(alu24 | ((cast3 >> 15u) << 31u)));
    ushort2 val2 = ushort2(*(device const packed_ushort2*)(data1 + alu10));
    uint cast4 = (uint)val2.x;
    uint alu26 = cast4 & 32767u;
    uint alu27 = alu26 << 16u;
    uint alu28 = !(alu26 < 32640u) ? (alu27 | 2139095040u) : as_type<uint>(as_type<float>(alu27));
    uint cast5 = (uint)val2.y;
    uint alu29 = cast5 & 32767u;
    uint alu30 = alu29 << 16u;
    uint alu31 = !(alu29 < 32640u) ? (alu30 | 2139095040u) : as_type<uint>(as_type<float>(alu30));
    float2 alu32 = float2(as_type<float>(alu28 | ((cast4 >> 15u) << 31u)),
        as_type<float>(alu31 | ((cast5 >> 15u) << 31u)));
    ushort2 val3 = ushort2(*(device const packed_ushort2*)(data2 + alu18));
    uint cast6 = (uint)val3.x;
    uint alu33 = cast6 & 32767u;
    uint alu34 = alu33 << 16u;
    uint alu35 = !(alu33 < 32640u) ? (alu34 | 2139095040u) : as_type<uint>(as_type<float>(alu34));
    uint cast7 = (uint)val3.y;
    uint alu36 = cast7 & 32767u;
    uint alu37 = alu36 << 16u;
    uint alu38 = !(alu36 < 32640u) ? (alu37 | 2139095040u) : as_type<uint>(as_type<float>(alu37));
    float2 alu39 = float2(as_type<float>(alu35 | ((cast6 >> 15u) << 31u)),
        as_type<float>(alu38 | ((cast7 >> 15u) << 31u)));
    float2 wmma0 = multiply_8x8_f32(alu32, alu39, acc0);
    float2 wmma1 = multiply_8x8_f32(alu17, alu25, wmma0);
    acc0 = wmma1;
  }
  *(device packed_float2*)(data0 + alu3 + (alu0 & 3) * 32 + alu5 + alu4 + alu8 + alu6) = acc0;
}
