// grid None, group (64, 1, 1); opts: Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64_4(device ushort* data0 [[buffer(0)]], device const half* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  int alu0 = lidx0 * 4;
  half4 val0 = half4(*(device const packed_half4*)(data1 + alu0));
  uint cast0 = as_type<uint>((float)(val0.x * ((half)2.0f)));
  uint alu1 = cast0 & 2147483647u;
  uint alu2 = (alu1 + 32767u + (alu1 >> 16u & 1u)) >> 16u;
  uint alu3 = (2139095040u < alu1) ? 32704u : ((alu1 < 2147483648u & (alu2 < 32640u)) ? alu2 : 32640u);
  uint alu4 = alu3 | ((cast0 >> 31u) << 15u);
  uint alu5 = alu4 & 32767u;
  uint alu6 = alu5 << 16u;
  uint alu7 = !(alu5 < 32640u) ? (alu6 | 2139095040u) : as_type<uint>(as_type<float>(alu6));
  uint cast1 = as_type<uint>(as_type<float>(alu7 | ((alu4 >> 15u) << 31u)));
  uint alu8 = cast1 & 2147483647u;
  uint alu9 = (alu8 + 32767u + (alu8 >> 16u & 1u)) >> 16u;
  uint alu10 = (2139095040u < alu8) ? 32704u : ((alu8 < 2147483648u & (alu9 < 32640u)) ? alu9 : 32640u);
  uint cast2 = as_type<uint>((float)(val0.y * ((half)2.0f)));
  uint alu11 = cast2 & 2147483647u;
  uint alu12 = (alu11 + 32767u + (alu11 >> 16u & 1u)) >> 16u;
  uint alu13 = (2139095040u < alu11) ? 32704u : ((alu11 < 2147483648u & (alu12 < 32640u)) ? alu12 : 32640u);
  uint alu14 = alu13 | ((cast2 >> 31u) << 15u);
  uint alu15 = alu14 & 32767u;
  uint alu16 = alu15 << 16u;
  uint alu17 = !(alu15 < 32640u) ? (alu16 | 2139095040u) : as_type<uint>(as_type<float>(alu16));
  uint cast3 = as_type<uint>(as_type<float>(alu17 | ((alu14 >> 15u) << 31u)));
  uint alu18 = cast3 & 2147483647u;
  uint alu19 = (alu18 + 32767u + (alu18 >> 16u & 1u)) >> 16u;
  uint alu20 = (2139095040u < alu18) ? 32704u : ((alu18 < 2147483648u & (alu19 < 32640u)) ? alu19 : 32640u);
  uint cast4 = as_type<uint>((float)(val0.z * ((half)2.0f)));
  uint alu21 = cast4 & 2147483647u;
  uint alu22 = (alu21 + 32767u + (alu21 >> 16u & 1u)) >> 16u;
  uint alu23 = (2139095040u < alu21) ? 32704u : ((alu21 < 2147483648u & (alu22 < 32640u)) ? alu22 : 32640u);
  uint alu24 = alu23 | ((cast4 >> 31u) << 15u);
  uint alu25 = alu24 & 32767u;
  uint alu26 = alu25 << 16u;
  uint alu27 = !(alu25 < 32640u) ? (alu26 | 2139095040u) : as_type<uint>(as_type<float>(alu26));
  uint cast5 = as_type<uint>(as_type<float>(alu27 | ((alu24 >> 15u) << 31u)));
  uint alu28 = cast5 & 2147483647u;
  uint alu29 = (alu28 + 32767u + (alu28 >> 16u & 1u)) >> 16u;
  uint alu30 = (2139095040u < alu28) ? 32704u : ((alu28 < 2147483648u & (alu29 < 32640u)) ? alu29 : 32640u);
  uint cast6 = as_type<uint>((float)(val0.w * ((half)2.0f)));
  uint alu31 = cast6 & 2147483647u;
  uint alu32 = (alu31 + 32767u + (alu31 >> 16u & 1u)) >> 16u;
  uint alu33 = (2139095040u < alu31) ? 32704u : ((alu31 < 2147483648u & (alu32 < 32640u)) ? alu32 : 32640u);
  uint alu34 = alu33 | ((cast6 >> 31u) << 15u);
  uint alu35 = alu34 & 32767u;
  uint alu36 = alu35 << 16u;
  uint alu37 = !(alu35 < 32640u) ? (alu36 | 2139095040u) : as_type<uint>(as_type<float>(alu36));
  uint cast7 = as_type<uint>(as_type<float>(alu37 | ((alu34 >> 15u) << 31u)));
  uint alu38 = cast7 & 2147483647u;
  uint alu39 = (alu38 + 32767u + (alu38 >> 16u & 1u)) >> 16u;
  uint alu40 = (2139095040u < alu38) ? 32704u : ((alu38 < 2147483648u & (alu39 < 32640u)) ? alu39 : 32640u);
  ushort4 alu41 = ushort4((ushort)(alu10 | ((cast1 >> 31u) << 15u)),
      (ushort)(alu20 | ((cast3 >> 31u) << 15u)), (ushort)(alu30 | ((cast5 >> 31u) << 15u)),
      (ushort)(alu40 | ((cast7 >> 31u) << 15u)));
  *(device packed_ushort4*)(data0 + alu0) = alu41;
}
