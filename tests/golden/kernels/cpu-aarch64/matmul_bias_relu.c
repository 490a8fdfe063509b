// opts: Opt(VECTOR, 1, 4), Opt(UPCAST, 0, 4), Opt(UPCAST, 0, 2), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_4_5_4(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  float val0 = data1[4ll];
  f32x4 alu0 = (f32x4)(val0);
  f32x4 val1 = *(const f32x4_m*)(data2 + 24ll);
  float val2 = data1[3ll];
  f32x4 alu1 = (f32x4)(val2);
  f32x4 val3 = *(const f32x4_m*)(data2 + 18ll);
  float val4 = data1[2ll];
  f32x4 alu2 = (f32x4)(val4);
  f32x4 val5 = *(const f32x4_m*)(data2 + 12ll);
  float val6 = data1[1ll];
  f32x4 alu3 = (f32x4)(val6);
  f32x4 val7 = *(const f32x4_m*)(data2 + 6ll);
  float val8 = data1[0ll];
  f32x4 alu4 = (f32x4)(val8);
  f32x4 val9 = *(const f32x4_m*)data2;
  f32x4 alu5 = __builtin_elementwise_fma(alu2, val5, __builtin_elementwise_fma(alu3, val7, alu4 * val9));
  f32x4 alu6 = __builtin_elementwise_fma(alu0, val1, __builtin_elementwise_fma(alu1, val3, alu5));
  f32x4 val10 = *(const f32x4_m*)data3;
  float val11 = data1[9ll];
  f32x4 alu7 = (f32x4)(val11);
  float val12 = data1[8ll];
  f32x4 alu8 = (f32x4)(val12);
  float val13 = data1[7ll];
  f32x4 alu9 = (f32x4)(val13);
  float val14 = data1[6ll];
  f32x4 alu10 = (f32x4)(val14);
  float val15 = data1[5ll];
  f32x4 alu11 = (f32x4)(val15);
  f32x4 alu12 = __builtin_elementwise_fma(alu9, val5, __builtin_elementwise_fma(alu10, val7, alu11 * val9));
  f32x4 alu13 = __builtin_elementwise_fma(alu7, val1, __builtin_elementwise_fma(alu8, val3, alu12));
  float val16 = data1[14ll];
  f32x4 alu14 = (f32x4)(val16);
  float val17 = data1[13ll];
  f32x4 alu15 = (f32x4)(val17);
  float val18 = data1[12ll];
  f32x4 alu16 = (f32x4)(val18);
  float val19 = data1[11ll];
  f32x4 alu17 = (f32x4)(val19);
  float val20 = data1[10ll];
  f32x4 alu18 = (f32x4)(val20);
  f32x4 alu19 = __builtin_elementwise_fma(alu16, val5, __builtin_elementwise_fma(alu17, val7, alu18 * val9));
  f32x4 alu20 = __builtin_elementwise_fma(alu14, val1, __builtin_elementwise_fma(alu15, val3, alu19));
  float val21 = data1[19ll];
  f32x4 alu21 = (f32x4)(val21);
  float val22 = data1[18ll];
  f32x4 alu22 = (f32x4)(val22);
  float val23 = data1[17ll];
  f32x4 alu23 = (f32x4)(val23);
  float val24 = data1[16ll];
  f32x4 alu24 = (f32x4)(val24);
  float val25 = data1[15ll];
  f32x4 alu25 = (f32x4)(val25);
  f32x4 alu26 = __builtin_elementwise_fma(alu23, val5, __builtin_elementwise_fma(alu24, val7, alu25 * val9));
  f32x4 alu27 = __builtin_elementwise_fma(alu21, val1, __builtin_elementwise_fma(alu22, val3, alu26));
  f32x4 val26 = *(const f32x4_m*)(data2 + 26ll);
  f32x4 val27 = *(const f32x4_m*)(data2 + 20ll);
  f32x4 val28 = *(const f32x4_m*)(data2 + 14ll);
  f32x4 val29 = *(const f32x4_m*)(data2 + 8ll);
  f32x4 val30 = *(const f32x4_m*)(data2 + 2ll);
  f32x4 alu28 = __builtin_elementwise_fma(alu2, val28, __builtin_elementwise_fma(alu3, val29, alu4 * val30));
  f32x4 alu29 = __builtin_elementwise_fma(alu0, val26, __builtin_elementwise_fma(alu1, val27, alu28));
  f32x4 val31 = *(const f32x4_m*)(data3 + 2ll);
  f32x4 alu30 = __builtin_elementwise_fma(alu9, val28, __builtin_elementwise_fma(alu10, val29,
      alu11 * val30));
  f32x4 alu31 = __builtin_elementwise_fma(alu7, val26, __builtin_elementwise_fma(alu8, val27, alu30));
  f32x4 alu32 = __builtin_elementwise_fma(alu16, val28, __builtin_elementwise_fma(alu17, val29,
      alu18 * val30));
  f32x4 alu33 = __builtin_elementwise_fma(alu14, val26, __builtin_elementwise_fma(alu15, val27, alu32));
  f32x4 alu34 = __builtin_elementwise_fma(alu23, val28, __builtin_elementwise_fma(alu24, val29,
      alu25 * val30));
  f32x4 alu35 = __builtin_elementwise_fma(alu21, val26, __builtin_elementwise_fma(alu22, val27, alu34));
  *(f32x4_m*)data0 = max_f32x4(alu6 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 6ll) = max_f32x4(alu13 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 12ll) = max_f32x4(alu20 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 18ll) = max_f32x4(alu27 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 2ll) = max_f32x4(alu29 + val31, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 8ll) = max_f32x4(alu31 + val31, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 14ll) = max_f32x4(alu33 + val31, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 20ll) = max_f32x4(alu35 + val31, (f32x4)(0.0f));
}
