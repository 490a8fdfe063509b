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

// grid None, group (16, 1, 1); opts: Opt(LOCAL, 0, 16)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void E_16_4_(__global ushort* restrict data0,
    read_only image2d_t data1) {
  int lidx0 = get_local_id(0);
  float4 val0 = read_imagef(data1, (int2)(lidx0 % 2, lidx0 / 2));
  uint cast0 = as_uint(val0.s0);
  uint alu0 = cast0 & 2147483647u;
  uint cast1 = as_uint(6.1035156e-5f);
  uint cast2 = as_uint(0.5f);
  uint alu1 = (alu0 < cast1) ? as_uint(as_float(alu0) + 0.5f) - cast2 : ((alu0 + 4095u + (alu0 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu2 = (2139095040u < alu0) ? 32256u : ((alu0 < 1207959552u & (alu1 < 31744u)) ? alu1 : 31744u);
  uint alu3 = alu2 | ((cast0 >> 31u) << 15u);
  uint alu4 = alu3 & 32767u;
  uint alu5 = alu4 << 13u;
  uint alu6 = !(alu4 < 31744u) ? (alu5 | 2139095040u) : as_uint(as_float(alu5) * 5.192297e33f);
  uint alu7 = alu6 | ((alu3 >> 15u) << 31u);
  uint alu8 = alu7 & 2147483647u;
  uint alu9 = (alu8 < cast1) ? as_uint(as_float(alu8) + 0.5f) - cast2 : ((alu8 + 4095u + (alu8 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu10 = (2139095040u < alu8) ? 32256u : ((alu8 < 1207959552u & (alu9 < 31744u)) ? alu9 : 31744u);
  uint cast3 = as_uint(val0.s1);
  uint alu11 = cast3 & 2147483647u;
  uint alu12 = (alu11 < cast1) ? as_uint(as_float(alu11) + 0.5f) - cast2 : ((alu11 + 4095u + (alu11 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu13 = (2139095040u < alu11) ? 32256u : ((alu11 < 1207959552u & (alu12 < 31744u)) ? alu12 : 31744u);
  uint alu14 = alu13 | ((cast3 >> 31u) << 15u);
  uint alu15 = alu14 & 32767u;
  uint alu16 = alu15 << 13u;
  uint alu17 = !(alu15 < 31744u) ? (alu16 | 2139095040u) : as_uint(as_float(alu16) * 5.192297e33f);
  uint alu18 = alu17 | ((alu14 >> 15u) << 31u);
  uint alu19 = alu18 & 2147483647u;
  uint alu20 = (alu19 < cast1) ? as_uint(as_float(alu19) + 0.5f) - cast2 : ((alu19 + 4095u + (alu19 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu21 = (2139095040u < alu19) ? 32256u : ((alu19 < 1207959552u & (alu20 < 31744u)) ? alu20 : 31744u);
  uint cast4 = as_uint(val0.s2);
  uint alu22 = cast4 & 2147483647u;
  uint alu23 = (alu22 < cast1) ? as_uint(as_float(alu22) + 0.5f) - cast2 : ((alu22 + 4095u + (alu22 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu24 = (2139095040u < alu22) ? 32256u : ((alu22 < 1207959552u & (alu23 < 31744u)) ? alu23 : 31744u);
  uint alu25 = alu24 | ((cast4 >> 31u) << 15u);
  uint alu26 = alu25 & 32767u;
  uint alu27 = alu26 << 13u;
  uint alu28 = !(alu26 < 31744u) ? (alu27 | 2139095040u) : as_uint(as_float(alu27) * 5.192297e33f);
  uint alu29 = alu28 | ((alu25 >> 15u) << 31u);
  uint alu30 = alu29 & 2147483647u;
  uint alu31 = (alu30 < cast1) ? as_uint(as_float(alu30) + 0.5f) - cast2 : ((alu30 + 4095u + (alu30 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu32 = (2139095040u < alu30) ? 32256u : ((alu30 < 1207959552u & (alu31 < 31744u)) ? alu31 : 31744u);
  uint cast5 = as_uint(val0.s3);
  uint alu33 = cast5 & 2147483647u;
  uint alu34 = (alu33 < cast1) ? as_uint(as_float(alu33) + 0.5f) - cast2 : ((alu33 + 4095u + (alu33 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu35 = (2139095040u < alu33) ? 32256u : ((alu33 < 1207959552u & (alu34 < 31744u)) ? alu34 : 31744u);
  uint alu36 = alu35 | ((cast5 >> 31u) << 15u);
  uint alu37 = alu36 & 32767u;
  uint alu38 = alu37 << 13u;
  uint alu39 = !(alu37 < 31744u) ? (alu38 | 2139095040u) : as_uint(as_float(alu38) * 5.192297e33f);
  uint alu40 = alu39 | ((alu36 >> 15u) << 31u);
  uint alu41 = alu40 & 2147483647u;
  uint alu42 = (alu41 < cast1) ? as_uint(as_float(alu41) + 0.5f) - cast2 : ((alu41 + 4095u + (alu41 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu43 = (2139095040u < alu41) ? 32256u : ((alu41 < 1207959552u & (alu42 < 31744u)) ? alu42 : 31744u);
  ushort4 alu44 = (ushort4)((ushort)(alu10 | ((alu7 >> 31u) << 15u)),
      (ushort)(alu21 | ((alu18 >> 31u) << 15u)), (ushort)(alu32 | ((alu29 >> 31u) << 15u)),
      (ushort)(alu43 | ((alu40 >> 31u) << 15u)));
  vstore4(alu44, 0, data0 + lidx0 * 4);
}

// grid None, group (8, 2, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 2)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void E_2_8_4_(__global float* restrict data0,
    read_only image2d_t data1) {
  int lidx1 = get_local_id(1);
  int lidx0 = get_local_id(0);
  float4 val0 = read_imagef(data1, (int2)(lidx1, lidx0));
  uint cast0 = as_uint(val0.s0);
  uint alu0 = cast0 & 2147483647u;
  uint cast1 = as_uint(6.1035156e-5f);
  uint cast2 = as_uint(0.5f);
  uint alu1 = (alu0 < cast1) ? as_uint(as_float(alu0) + 0.5f) - cast2 : ((alu0 + 4095u + (alu0 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu2 = (2139095040u < alu0) ? 32256u : ((alu0 < 1207959552u & (alu1 < 31744u)) ? alu1 : 31744u);
  uint alu3 = alu2 | ((cast0 >> 31u) << 15u);
  uint alu4 = alu3 & 32767u;
  uint alu5 = alu4 << 13u;
  uint alu6 = !(alu4 < 31744u) ? (alu5 | 2139095040u) : as_uint(as_float(alu5) * 5.192297e33f);
  int alu7 = lidx0 + lidx1 * 32;
  uint cast3 = as_uint(val0.s1);
  uint alu8 = cast3 & 2147483647u;
  uint alu9 = (alu8 < cast1) ? as_uint(as_float(alu8) + 0.5f) - cast2 : ((alu8 + 4095u + (alu8 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu10 = (2139095040u < alu8) ? 32256u : ((alu8 < 1207959552u & (alu9 < 31744u)) ? alu9 : 31744u);
  uint alu11 = alu10 | ((cast3 >> 31u) << 15u);
  uint alu12 = alu11 & 32767u;
  uint alu13 = alu12 << 13u;
  uint alu14 = !(alu12 < 31744u) ? (alu13 | 2139095040u) : as_uint(as_float(alu13) * 5.192297e33f);
  uint cast4 = as_uint(val0.s2);
  uint alu15 = cast4 & 2147483647u;
  uint alu16 = (alu15 < cast1) ? as_uint(as_float(alu15) + 0.5f) - cast2 : ((alu15 + 4095u + (alu15 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu17 = (2139095040u < alu15) ? 32256u : ((alu15 < 1207959552u & (alu16 < 31744u)) ? alu16 : 31744u);
  uint alu18 = alu17 | ((cast4 >> 31u) << 15u);
  uint alu19 = alu18 & 32767u;
  uint alu20 = alu19 << 13u;
  uint alu21 = !(alu19 < 31744u) ? (alu20 | 2139095040u) : as_uint(as_float(alu20) * 5.192297e33f);
  uint cast5 = as_uint(val0.s3);
  uint alu22 = cast5 & 2147483647u;
  uint alu23 = (alu22 < cast1) ? as_uint(as_float(alu22) + 0.5f) - cast2 : ((alu22 + 4095u + (alu22 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu24 = (2139095040u < alu22) ? 32256u : ((alu22 < 1207959552u & (alu23 < 31744u)) ? alu23 : 31744u);
  uint alu25 = alu24 | ((cast5 >> 31u) << 15u);
  uint alu26 = alu25 & 32767u;
  uint alu27 = alu26 << 13u;
  uint alu28 = !(alu26 < 31744u) ? (alu27 | 2139095040u) : as_uint(as_float(alu27) * 5.192297e33f);
  data0[alu7] = as_float(alu6 | ((alu3 >> 15u) << 31u));
  data0[alu7 + 8] = as_float(alu14 | ((alu11 >> 15u) << 31u));
  data0[alu7 + 16] = as_float(alu21 | ((alu18 >> 15u) << 31u));
  data0[alu7 + 24] = as_float(alu28 | ((alu25 >> 15u) << 31u));
}

// grid (2, 1, 1), group (8, 4, 1); opts: Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 4), Opt(UNROLL, 3, 4)
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void r_2_4_8_2_4_(__global ushort* restrict data0,
    __global const ushort* restrict data1, __global const float* restrict data2) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  acc0 = 0.0f;
  int gidx0 = get_group_id(0);
  int alu0 = gidx0 * 32;
  int lidx1 = get_local_id(1);
  int alu1 = lidx1 * 8;
  int alu2 = alu0 + alu1;
  int lidx0 = get_local_id(0);
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    ushort4 val0 = vload4(0, data1 + alu2 + ridx3 * 4);
    uint cast0 = (uint)val0.s0;
    uint alu3 = cast0 & 32767u;
    uint alu4 = alu3 << 13u;
    uint alu5 = !(alu3 < 31744u) ? (alu4 | 2139095040u) : as_uint(as_float(alu4) * 5.192297e33f);
    int alu6 = lidx0 + ridx3 * 32;
    acc0 = fma(as_float(alu5 | ((cast0 >> 15u) << 31u)), data2[alu6], acc0);
    uint cast1 = (uint)val0.s1;
    uint alu7 = cast1 & 32767u;
    uint alu8 = alu7 << 13u;
    uint alu9 = !(alu7 < 31744u) ? (alu8 | 2139095040u) : as_uint(as_float(alu8) * 5.192297e33f);
    acc1 = fma(as_float(alu9 | ((cast1 >> 15u) << 31u)), data2[alu6 + 8], acc1);
    uint cast2 = (uint)val0.s2;
    uint alu10 = cast2 & 32767u;
    uint alu11 = alu10 << 13u;
    uint alu12 = !(alu10 < 31744u) ? (alu11 | 2139095040u) : as_uint(as_float(alu11) * 5.192297e33f);
    acc2 = fma(as_float(alu12 | ((cast2 >> 15u) << 31u)), data2[alu6 + 16], acc2);
    uint cast3 = (uint)val0.s3;
    uint alu13 = cast3 & 32767u;
    uint alu14 = alu13 << 13u;
    uint alu15 = !(alu13 < 31744u) ? (alu14 | 2139095040u) : as_uint(as_float(alu14) * 5.192297e33f);
    acc3 = fma(as_float(alu15 | ((cast3 >> 15u) << 31u)), data2[alu6 + 24], acc3);
  }
  uint cast4 = as_uint(acc0 + acc1 + (acc2 + acc3));
  uint alu16 = cast4 & 2147483647u;
  uint cast5 = as_uint(6.1035156e-5f);
  uint cast6 = as_uint(0.5f);
  uint alu17 = (alu16 < cast5) ? as_uint(as_float(alu16) + 0.5f) - cast6 : ((alu16 + 4095u + (alu16 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu18 = (2139095040u < alu16) ? 32256u : ((alu16 < 1207959552u & (alu17 < 31744u)) ? alu17 : 31744u);
  uint alu19 = alu18 | ((cast4 >> 31u) << 15u);
  uint alu20 = alu19 & 32767u;
  uint alu21 = alu20 << 13u;
  uint alu22 = !(alu20 < 31744u) ? (alu21 | 2139095040u) : as_uint(as_float(alu21) * 5.192297e33f);
  uint alu23 = alu22 | ((alu19 >> 15u) << 31u);
  uint alu24 = alu23 & 2147483647u;
  uint alu25 = (alu24 < cast5) ? as_uint(as_float(alu24) + 0.5f) - cast6 : ((alu24 + 4095u + (alu24 >> 13u & 1u)) >> 13u) - 114688u;
  uint alu26 = (2139095040u < alu24) ? 32256u : ((alu24 < 1207959552u & (alu25 < 31744u)) ? alu25 : 31744u);
  data0[alu0 + lidx0 + alu1] = (ushort)(alu26 | ((alu23 >> 31u) << 15u));
}
