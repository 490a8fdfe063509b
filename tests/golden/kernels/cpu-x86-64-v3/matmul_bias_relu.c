// opts: Opt(VECTOR, 1, 4), Opt(UPCAST, 0, 4), Opt(UPCAST, 0, 2), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef int i32x4 __attribute__((ext_vector_type(4)));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_4_5_4(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  float val0 = data1[4];
  f32x4 alu0 = (f32x4)(val0);
  f32x4 val1 = *(const f32x4_m*)(data2 + 24);
  float val2 = data1[3];
  f32x4 alu1 = (f32x4)(val2);
  f32x4 val3 = *(const f32x4_m*)(data2 + 18);
  float val4 = data1[2];
  f32x4 alu2 = (f32x4)(val4);
  f32x4 val5 = *(const f32x4_m*)(data2 + 12);
  float val6 = data1[1];
  f32x4 alu3 = (f32x4)(val6);
  f32x4 val7 = *(const f32x4_m*)(data2 + 6);
  float val8 = data1[0];
  f32x4 alu4 = (f32x4)(val8);
  f32x4 val9 = *(const f32x4_m*)data2;
  f32x4 alu5 = __builtin_elementwise_fma(alu2, val5, __builtin_elementwise_fma(alu3, val7, alu4 * val9));
  f32x4 alu6 = __builtin_elementwise_fma(alu0, val1, __builtin_elementwise_fma(alu1, val3, alu5));
  f32x4 val10 = *(const f32x4_m*)data3;
  f32x4 alu7 = alu6 + val10;
  float val11 = data1[9];
  f32x4 alu8 = (f32x4)(val11);
  float val12 = data1[8];
  f32x4 alu9 = (f32x4)(val12);
  float val13 = data1[7];
  f32x4 alu10 = (f32x4)(val13);
  float val14 = data1[6];
  f32x4 alu11 = (f32x4)(val14);
  float val15 = data1[5];
  f32x4 alu12 = (f32x4)(val15);
  f32x4 alu13 = __builtin_elementwise_fma(alu10, val5, __builtin_elementwise_fma(alu11, val7, alu12 * val9));
  f32x4 alu14 = __builtin_elementwise_fma(alu8, val1, __builtin_elementwise_fma(alu9, val3, alu13));
  f32x4 alu15 = alu14 + val10;
  float val16 = data1[14];
  f32x4 alu16 = (f32x4)(val16);
  float val17 = data1[13];
  f32x4 alu17 = (f32x4)(val17);
  float val18 = data1[12];
  f32x4 alu18 = (f32x4)(val18);
  float val19 = data1[11];
  f32x4 alu19 = (f32x4)(val19);
  float val20 = data1[10];
  f32x4 alu20 = (f32x4)(val20);
  f32x4 alu21 = __builtin_elementwise_fma(alu18, val5, __builtin_elementwise_fma(alu19, val7, alu20 * val9));
  f32x4 alu22 = __builtin_elementwise_fma(alu16, val1, __builtin_elementwise_fma(alu17, val3, alu21));
  f32x4 alu23 = alu22 + val10;
  float val21 = data1[19];
  f32x4 alu24 = (f32x4)(val21);
  float val22 = data1[18];
  f32x4 alu25 = (f32x4)(val22);
  float val23 = data1[17];
  f32x4 alu26 = (f32x4)(val23);
  float val24 = data1[16];
  f32x4 alu27 = (f32x4)(val24);
  float val25 = data1[15];
  f32x4 alu28 = (f32x4)(val25);
  f32x4 alu29 = __builtin_elementwise_fma(alu26, val5, __builtin_elementwise_fma(alu27, val7, alu28 * val9));
  f32x4 alu30 = __builtin_elementwise_fma(alu24, val1, __builtin_elementwise_fma(alu25, val3, alu29));
  f32x4 alu31 = alu30 + val10;
  f32x4 val26 = *(const f32x4_m*)(data2 + 26);
  f32x4 val27 = *(const f32x4_m*)(data2 + 20);
  f32x4 val28 = *(const f32x4_m*)(data2 + 14);
  f32x4 val29 = *(const f32x4_m*)(data2 + 8);
  f32x4 val30 = *(const f32x4_m*)(data2 + 2);
  f32x4 alu32 = __builtin_elementwise_fma(alu2, val28, __builtin_elementwise_fma(alu3, val29, alu4 * val30));
  f32x4 alu33 = __builtin_elementwise_fma(alu0, val26, __builtin_elementwise_fma(alu1, val27, alu32));
  f32x4 val31 = *(const f32x4_m*)(data3 + 2);
  f32x4 alu34 = alu33 + val31;
  f32x4 alu35 = __builtin_elementwise_fma(alu10, val28, __builtin_elementwise_fma(alu11, val29,
      alu12 * val30));
  f32x4 alu36 = __builtin_elementwise_fma(alu8, val26, __builtin_elementwise_fma(alu9, val27, alu35));
  f32x4 alu37 = alu36 + val31;
  f32x4 alu38 = __builtin_elementwise_fma(alu18, val28, __builtin_elementwise_fma(alu19, val29,
      alu20 * val30));
  f32x4 alu39 = __builtin_elementwise_fma(alu16, val26, __builtin_elementwise_fma(alu17, val27, alu38));
  f32x4 alu40 = alu39 + val31;
  f32x4 alu41 = __builtin_elementwise_fma(alu26, val28, __builtin_elementwise_fma(alu27, val29,
      alu28 * val30));
  f32x4 alu42 = __builtin_elementwise_fma(alu24, val26, __builtin_elementwise_fma(alu25, val27, alu41));
  f32x4 alu43 = alu42 + val31;
  *(f32x4_m*)data0 = (i32x4)((f32x4)(0.0f) < alu7) ? alu7 : max_f32x4(alu7, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 6) = (i32x4)((f32x4)(0.0f) < alu15) ? alu15 : max_f32x4(alu15, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 12) = (i32x4)((f32x4)(0.0f) < alu23) ? alu23 : max_f32x4(alu23, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 18) = (i32x4)((f32x4)(0.0f) < alu31) ? alu31 : max_f32x4(alu31, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 2) = (i32x4)((f32x4)(0.0f) < alu34) ? alu34 : max_f32x4(alu34, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 8) = (i32x4)((f32x4)(0.0f) < alu37) ? alu37 : max_f32x4(alu37, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 14) = (i32x4)((f32x4)(0.0f) < alu40) ? alu40 : max_f32x4(alu40, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 20) = (i32x4)((f32x4)(0.0f) < alu43) ? alu43 : max_f32x4(alu43, (f32x4)(0.0f));
}
