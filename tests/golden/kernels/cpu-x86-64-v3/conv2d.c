// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 0, 2), Opt(UPCAST, 0, 2), Opt(UPCAST, 1, 2), Opt(UNROLL, 4, 0), Opt(PACK, 0, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_3_3_2_3_2_2_2_3_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  float row0[72] __attribute__((aligned(64)));
  f32x2 acc1;
  f32x2 acc2;
  f32x2 acc3;
  f32x2 acc4;
  f32x2 acc5;
  f32x2 acc6;
  f32x2 acc7;
  f32x2 acc8;
  for (long long ridx9 = 0; ridx9 < 2ll; ridx9++) {
    long long alu0 = ridx9 * 2ll;
    long long alu1 = ((alu0 < 1ll) ? alu0 : 1ll) * 18ll;
    for (long long ridx11 = 0; ridx11 < 2ll; ridx11++) {
      long long alu2 = alu1 + ridx11 * 9ll;
      long long alu3 = alu0 + ridx11 * 36ll;
      for (long long ridx12 = 0; ridx12 < 3ll; ridx12++) {
        long long alu4 = alu2 + ridx12 * 3ll;
        long long alu5 = alu3 + ridx12 * 12ll;
        for (long long ridx13 = 0; ridx13 < 3ll; ridx13++) {
          long long alu6 = alu4 + ridx13;
          *(f32x2_m*)(row0 + alu5 + ridx13 * 4ll) = (f32x2){data2[alu6], data2[alu6 + 18ll]};
        }
      }
    }
  }
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu7 = ridx0 * 12ll;
    long long alu8 = ridx0 * 2ll;
    for (long long ridx1 = 0; ridx1 < 3ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu9 = alu7 + ridx1 * 2ll;
      _Bool alu10 = !(ridx1 < 1ll);
      acc2 = (f32x2)(0.0f);
      acc3 = (f32x2)(0.0f);
      acc4 = (f32x2)(0.0f);
      acc5 = (f32x2)(0.0f);
      _Bool alu11 = ridx1 < 2ll;
      acc6 = (f32x2)(0.0f);
      acc7 = (f32x2)(0.0f);
      acc8 = (f32x2)(0.0f);
      for (long long ridx2 = 0; ridx2 < 2ll; ridx2++) {
        long long alu12 = ridx2 * 36ll;
        long long alu13 = alu9 + alu12;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu14 = alu13 + ridx3 * 6ll;
          long long alu15 = alu8 + ridx3;
          _Bool alu16 = !(alu15 < 1ll);
          float val0 = alu16 ? data1[alu14 + (-5ll)] : 0.0f;
          f32x2 alu17 = (f32x2)(val0);
          long long alu18 = alu12 + ridx3 * 12ll;
          f32x2 val1 = *(f32x2_m*)(row0 + alu18 + 8ll);
          float val2 = alu16 ? data1[alu14 + (-6ll)] : 0.0f;
          f32x2 alu19 = (f32x2)(val2);
          f32x2 val3 = *(f32x2_m*)(row0 + alu18 + 4ll);
          float val4 = (alu10 & alu16) ? data1[alu14 + (-7ll)] : 0.0f;
          f32x2 alu20 = (f32x2)(val4);
          f32x2 val5 = *(f32x2_m*)(row0 + alu18);
          f32x2 alu21 = __builtin_elementwise_fma(alu19, val3, __builtin_elementwise_fma(alu20, val5, acc1));
          acc1 = __builtin_elementwise_fma(alu17, val1, alu21);
          f32x2 val6 = *(f32x2_m*)(row0 + alu18 + 10ll);
          f32x2 val7 = *(f32x2_m*)(row0 + alu18 + 6ll);
          f32x2 val8 = *(f32x2_m*)(row0 + alu18 + 2ll);
          f32x2 alu22 = __builtin_elementwise_fma(alu19, val7, __builtin_elementwise_fma(alu20, val8, acc2));
          acc2 = __builtin_elementwise_fma(alu17, val6, alu22);
          _Bool alu23 = alu15 < 6ll;
          float val9 = alu23 ? data1[alu14 + 1ll] : 0.0f;
          f32x2 alu24 = (f32x2)(val9);
          float val10 = alu23 ? data1[alu14] : 0.0f;
          f32x2 alu25 = (f32x2)(val10);
          float val11 = (alu10 & alu23) ? data1[alu14 + (-1ll)] : 0.0f;
          f32x2 alu26 = (f32x2)(val11);
          f32x2 alu27 = __builtin_elementwise_fma(alu25, val3, __builtin_elementwise_fma(alu26, val5, acc3));
          acc3 = __builtin_elementwise_fma(alu24, val1, alu27);
          f32x2 alu28 = __builtin_elementwise_fma(alu25, val7, __builtin_elementwise_fma(alu26, val8, acc4));
          acc4 = __builtin_elementwise_fma(alu24, val6, alu28);
          float val12 = (alu11 & alu16) ? data1[alu14 + (-4ll)] : 0.0f;
          f32x2 alu29 = (f32x2)(val12);
          f32x2 alu30 = __builtin_elementwise_fma(alu17, val3, __builtin_elementwise_fma(alu19, val5, acc5));
          acc5 = __builtin_elementwise_fma(alu29, val1, alu30);
          f32x2 alu31 = __builtin_elementwise_fma(alu17, val7, __builtin_elementwise_fma(alu19, val8, acc6));
          acc6 = __builtin_elementwise_fma(alu29, val6, alu31);
          float val13 = (alu11 & alu23) ? data1[alu14 + 2ll] : 0.0f;
          f32x2 alu32 = (f32x2)(val13);
          f32x2 alu33 = __builtin_elementwise_fma(alu24, val3, __builtin_elementwise_fma(alu25, val5, acc7));
          acc7 = __builtin_elementwise_fma(alu32, val1, alu33);
          f32x2 alu34 = __builtin_elementwise_fma(alu24, val7, __builtin_elementwise_fma(alu25, val8, acc8));
          acc8 = __builtin_elementwise_fma(alu32, val6, alu34);
        }
      }
      f32x2 alu35 = max_f32x2(acc1, (f32x2)(0.0f));
      f32x2 alu36 = max_f32x2(acc2, (f32x2)(0.0f));
      f32x2 alu37 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu38 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu39 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu40 = max_f32x2(acc6, (f32x2)(0.0f));
      f32x2 alu41 = max_f32x2(acc7, (f32x2)(0.0f));
      f32x2 alu42 = max_f32x2(acc8, (f32x2)(0.0f));
      data0[alu9] = alu35[0];
      data0[alu9 + 36ll] = alu35[1];
      data0[alu9 + 36ll] = alu36[0];
      data0[alu9 + 72ll] = alu36[1];
      data0[alu9 + 6ll] = alu37[0];
      data0[alu9 + 42ll] = alu37[1];
      data0[alu9 + 42ll] = alu38[0];
      data0[alu9 + 78ll] = alu38[1];
      data0[alu9 + 1ll] = alu39[0];
      data0[alu9 + 37ll] = alu39[1];
      data0[alu9 + 37ll] = alu40[0];
      data0[alu9 + 73ll] = alu40[1];
      data0[alu9 + 7ll] = alu41[0];
      data0[alu9 + 43ll] = alu41[1];
      data0[alu9 + 43ll] = alu42[0];
      data0[alu9 + 79ll] = alu42[1];
    }
  }
}
