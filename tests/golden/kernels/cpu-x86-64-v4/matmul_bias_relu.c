// opts: Opt(VECTOR, 1, 4), Opt(UPCAST, 1, 2), Opt(UPCAST, 0, 4), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_4_2_5_4(float* restrict data0, const float* restrict data1, const float* restrict data2,
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
  f32x4 val11 = *(const f32x4_m*)(data2 + 26ll);
  f32x4 val12 = *(const f32x4_m*)(data2 + 20ll);
  f32x4 val13 = *(const f32x4_m*)(data2 + 14ll);
  f32x4 val14 = *(const f32x4_m*)(data2 + 8ll);
  f32x4 val15 = *(const f32x4_m*)(data2 + 2ll);
  f32x4 alu7 = __builtin_elementwise_fma(alu2, val13, __builtin_elementwise_fma(alu3, val14, alu4 * val15));
  f32x4 alu8 = __builtin_elementwise_fma(alu0, val11, __builtin_elementwise_fma(alu1, val12, alu7));
  f32x4 val16 = *(const f32x4_m*)(data3 + 2ll);
  float val17 = data1[9ll];
  f32x4 alu9 = (f32x4)(val17);
  float val18 = data1[8ll];
  f32x4 alu10 = (f32x4)(val18);
  float val19 = data1[7ll];
  f32x4 alu11 = (f32x4)(val19);
  float val20 = data1[6ll];
  f32x4 alu12 = (f32x4)(val20);
  float val21 = data1[5ll];
  f32x4 alu13 = (f32x4)(val21);
  f32x4 alu14 = __builtin_elementwise_fma(alu11, val5, __builtin_elementwise_fma(alu12, val7, alu13 * val9));
  f32x4 alu15 = __builtin_elementwise_fma(alu9, val1, __builtin_elementwise_fma(alu10, val3, alu14));
  f32x4 alu16 = __builtin_elementwise_fma(alu11, val13, __builtin_elementwise_fma(alu12, val14,
      alu13 * val15));
  f32x4 alu17 = __builtin_elementwise_fma(alu9, val11, __builtin_elementwise_fma(alu10, val12, alu16));
  float val22 = data1[14ll];
  f32x4 alu18 = (f32x4)(val22);
  float val23 = data1[13ll];
  f32x4 alu19 = (f32x4)(val23);
  float val24 = data1[12ll];
  f32x4 alu20 = (f32x4)(val24);
  float val25 = data1[11ll];
  f32x4 alu21 = (f32x4)(val25);
  float val26 = data1[10ll];
  f32x4 alu22 = (f32x4)(val26);
  f32x4 alu23 = __builtin_elementwise_fma(alu20, val5, __builtin_elementwise_fma(alu21, val7, alu22 * val9));
  f32x4 alu24 = __builtin_elementwise_fma(alu18, val1, __builtin_elementwise_fma(alu19, val3, alu23));
  f32x4 alu25 = __builtin_elementwise_fma(alu20, val13, __builtin_elementwise_fma(alu21, val14,
      alu22 * val15));
  f32x4 alu26 = __builtin_elementwise_fma(alu18, val11, __builtin_elementwise_fma(alu19, val12, alu25));
  float val27 = data1[19ll];
  f32x4 alu27 = (f32x4)(val27);
  float val28 = data1[18ll];
  f32x4 alu28 = (f32x4)(val28);
  float val29 = data1[17ll];
  f32x4 alu29 = (f32x4)(val29);
  float val30 = data1[16ll];
  f32x4 alu30 = (f32x4)(val30);
  float val31 = data1[15ll];
  f32x4 alu31 = (f32x4)(val31);
  f32x4 alu32 = __builtin_elementwise_fma(alu29, val5, __builtin_elementwise_fma(alu30, val7, alu31 * val9));
  f32x4 alu33 = __builtin_elementwise_fma(alu27, val1, __builtin_elementwise_fma(alu28, val3, alu32));
  f32x4 alu34 = __builtin_elementwise_fma(alu29, val13, __builtin_elementwise_fma(alu30, val14,
      alu31 * val15));
  f32x4 alu35 = __builtin_elementwise_fma(alu27, val11, __builtin_elementwise_fma(alu28, val12, alu34));
  *(f32x4_m*)data0 = max_f32x4(alu6 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 2ll) = max_f32x4(alu8 + val16, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 6ll) = max_f32x4(alu15 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 8ll) = max_f32x4(alu17 + val16, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 12ll) = max_f32x4(alu24 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 14ll) = max_f32x4(alu26 + val16, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 18ll) = max_f32x4(alu33 + val10, (f32x4)(0.0f));
  *(f32x4_m*)(data0 + 20ll) = max_f32x4(alu35 + val16, (f32x4)(0.0f));
}
