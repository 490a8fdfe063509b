// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void E_64_(__global float* restrict data0,
    __global const ushort* restrict data1) {
  int lidx0 = get_local_id(0);
  uint cast0 = (uint)data1[lidx0];
  uint alu0 = cast0 & 32767u;
  uint alu1 = alu0 << 13u;
  uint alu2 = !(alu0 < 31744u) ? (alu1 | 2139095040u) : as_uint(as_float(alu1) * 5.192297e33f);
  uint cast1 = as_uint(as_float(alu2 | ((cast0 >> 15u) << 31u)) * 2.0f);
  uint alu3 = cast1 & 2147483647u;
  uint alu4 = (alu3 < as_uint(6.1035156e-5f)) ? as_uint(as_float(alu3) + 0.5f) - as_uint(0.5f) : ((alu3 + 4095u + (alu3 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu5 = (2139095040u < alu3) ? 32256u : ((alu3 < 1207959552u & (alu4 < 31744u)) ? alu4 : 31744u);
  uint cast2 = (uint)(ushort)(alu5 | ((cast1 >> 31u) << 15u));
  uint alu6 = cast2 & 32767u;
  uint alu7 = alu6 << 13u;
  uint alu8 = !(alu6 < 31744u) ? (alu7 | 2139095040u) : as_uint(as_float(alu7) * 5.192297e33f);
  data0[lidx0] = as_float(alu8 | ((cast2 >> 15u) << 31u));
}
