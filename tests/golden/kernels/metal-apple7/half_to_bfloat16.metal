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
  uint alu1 = (2139095040u < (cast0 & 2147483647u)) ? ((cast0 >> 31u) << 15u | 32704u) : (cast0 + ((cast0 >> 16u & 1u) + 32767u)) >> 16u;
  uint cast1 = as_type<uint>((float)(val0.y * ((half)2.0f)));
  uint alu2 = (2139095040u < (cast1 & 2147483647u)) ? ((cast1 >> 31u) << 15u | 32704u) : (cast1 + ((cast1 >> 16u & 1u) + 32767u)) >> 16u;
  uint cast2 = as_type<uint>((float)(val0.z * ((half)2.0f)));
  uint alu3 = (2139095040u < (cast2 & 2147483647u)) ? ((cast2 >> 31u) << 15u | 32704u) : (cast2 + ((cast2 >> 16u & 1u) + 32767u)) >> 16u;
  uint cast3 = as_type<uint>((float)(val0.w * ((half)2.0f)));
  uint alu4 = (2139095040u < (cast3 & 2147483647u)) ? ((cast3 >> 31u) << 15u | 32704u) : (cast3 + ((cast3 >> 16u & 1u) + 32767u)) >> 16u;
  *(device packed_ushort4*)(data0 + alu0) = ushort4((ushort)alu1, (ushort)alu2, (ushort)alu3, (ushort)alu4);
}
