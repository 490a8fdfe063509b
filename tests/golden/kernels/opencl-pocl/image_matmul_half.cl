// grid None, group (16, 1, 1); opts: Opt(LOCAL, 0, 16)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void E_16_4_(write_only image2d_t data0,
    __global const ushort* restrict data1) {
  int lidx0 = get_local_id(0);
  ushort4 val0 = vload4(0, data1 + lidx0 * 4);
  uint cast0 = (uint)val0.s0;
  uint alu0 = cast0 & 32767u;
  uint alu1 = alu0 << 13u;
  uint alu2 = !(alu0 < 31744u) ? (alu1 | 2139095040u) : as_uint(as_float(alu1) * 5.192297e33f);
  uint cast1 = (uint)val0.s1;
  uint alu3 = cast1 & 32767u;
  uint alu4 = alu3 << 13u;
  uint alu5 = !(alu3 < 31744u) ? (alu4 | 2139095040u) : as_uint(as_float(alu4) * 5.192297e33f);
  uint cast2 = (uint)val0.s2;
  uint alu6 = cast2 & 32767u;
  uint alu7 = alu6 << 13u;
  uint alu8 = !(alu6 < 31744u) ? (alu7 | 2139095040u) : as_uint(as_float(alu7) * 5.192297e33f);
  uint cast3 = (uint)val0.s3;
  uint alu9 = cast3 & 32767u;
  uint alu10 = alu9 << 13u;
  uint alu11 = !(alu9 < 31744u) ? (alu10 | 2139095040u) : as_uint(as_float(alu10) * 5.192297e33f);
  float4 alu12 = (float4)(as_float(alu2 | ((cast0 >> 15u) << 31u)), as_float(alu5 | ((cast1 >> 15u) << 31u)),
      as_float(alu8 | ((cast2 >> 15u) << 31u)), as_float(alu11 | ((cast3 >> 15u) << 31u)));
  write_imagef(data0, (int2)(lidx0 % 2, lidx0 / 2), alu12);
}

// grid None, group (2, 8, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 8)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(2, 8, 1))) void E_8_2_4_(write_only image2d_t data0,
    __global const ushort* restrict data1) {
  int lidx0 = get_local_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = lidx0 * 32 + lidx1;
  uint cast0 = (uint)data1[alu0];
  uint alu1 = cast0 & 32767u;
  uint alu2 = alu1 << 13u;
  uint alu3 = !(alu1 < 31744u) ? (alu2 | 2139095040u) : as_uint(as_float(alu2) * 5.192297e33f);
  uint cast1 = (uint)data1[alu0 + 8];
  uint alu4 = cast1 & 32767u;
  uint alu5 = alu4 << 13u;
  uint alu6 = !(alu4 < 31744u) ? (alu5 | 2139095040u) : as_uint(as_float(alu5) * 5.192297e33f);
  uint cast2 = (uint)data1[alu0 + 16];
  uint alu7 = cast2 & 32767u;
  uint alu8 = alu7 << 13u;
  uint alu9 = !(alu7 < 31744u) ? (alu8 | 2139095040u) : as_uint(as_float(alu8) * 5.192297e33f);
  uint cast3 = (uint)data1[alu0 + 24];
  uint alu10 = cast3 & 32767u;
  uint alu11 = alu10 << 13u;
  uint alu12 = !(alu10 < 31744u) ? (alu11 | 2139095040u) : as_uint(as_float(alu11) * 5.192297e33f);
  float4 alu13 = (float4)(as_float(alu3 | ((cast0 >> 15u) << 31u)), as_float(alu6 | ((cast1 >> 15u) << 31u)),
      as_float(alu9 | ((cast2 >> 15u) << 31u)), as_float(alu12 | ((cast3 >> 15u) << 31u)));
  write_imagef(data0, (int2)(lidx0, lidx1), alu13);
}

// grid (2, 1, 1), group (8, 4, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void r_2_4_8_2_4_(__global ushort* restrict data0,
    read_only image2d_t data1, read_only image2d_t data2) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int lidx1 = get_local_id(1);
  int alu0 = gidx0 * 4 + lidx1;
  int lidx0 = get_local_id(0);
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    float4 val0 = read_imagef(data1, (int2)(ridx3, alu0));
    float4 val1 = read_imagef(data2, (int2)(ridx3, lidx0));
    acc0 = fma(val0.s0, val1.s0, acc0);
    acc1 = fma(val0.s1, val1.s1, acc1);
    acc2 = fma(val0.s2, val1.s2, acc2);
    acc3 = fma(val0.s3, val1.s3, acc3);
  }
  uint cast0 = as_uint(acc0 + acc1 + (acc2 + acc3));
  uint alu1 = cast0 & 2147483647u;
  uint alu2 = (alu1 < as_uint(6.1035156e-5f)) ? as_uint(as_float(alu1) + 0.5f) - as_uint(0.5f) : ((alu1 + 4095u + (alu1 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu3 = (2139095040u < alu1) ? 32256u : ((alu1 < 1207959552u & (alu2 < 31744u)) ? alu2 : 31744u);
  data0[gidx0 * 32 + lidx0 + lidx1 * 8] = (ushort)(alu3 | ((cast0 >> 31u) << 15u));
}
