// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 0, 2), Opt(UPCAST, 0, 2), Opt(UPCAST, 1, 6), Opt(PACK, 0, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_3_2_3_3_6_2_2_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  float row0[72] __attribute__((aligned(64)));
  f32x2 acc1;
  f32x2 acc2;
  f32x2 acc3;
  f32x2 acc4;
  f32x2 acc5;
  f32x2 acc6;
  f32x2 acc7;
  f32x2 acc8;
  f32x2 acc9;
  f32x2 acc10;
  f32x2 acc11;
  f32x2 acc12;
  f32x2 acc13;
  f32x2 acc14;
  f32x2 acc15;
  f32x2 acc16;
  f32x2 acc17;
  f32x2 acc18;
  f32x2 acc19;
  f32x2 acc20;
  f32x2 acc21;
  f32x2 acc22;
  f32x2 acc23;
  f32x2 acc24;
  for (long long ridx8 = 0; ridx8 < 2ll; ridx8++) {
    long long alu0 = ridx8 * 2ll;
    long long alu1 = ((alu0 < 1ll) ? alu0 : 1ll) * 18ll;
    for (long long ridx10 = 0; ridx10 < 2ll; ridx10++) {
      long long alu2 = alu1 + ridx10 * 9ll;
      long long alu3 = alu0 + ridx10 * 36ll;
      for (long long ridx11 = 0; ridx11 < 3ll; ridx11++) {
        long long alu4 = alu2 + ridx11 * 3ll;
        long long alu5 = alu3 + ridx11 * 12ll;
        for (long long ridx12 = 0; ridx12 < 3ll; ridx12++) {
          long long alu6 = alu4 + ridx12;
          *(f32x2_m*)(row0 + alu5 + ridx12 * 4ll) = (f32x2){data2[alu6], data2[alu6 + 18ll]};
        }
      }
    }
  }
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    acc1 = (f32x2)(0.0f);
    long long alu7 = ridx0 * 12ll;
    long long alu8 = ridx0 * 2ll;
    acc2 = (f32x2)(0.0f);
    acc3 = (f32x2)(0.0f);
    acc4 = (f32x2)(0.0f);
    acc5 = (f32x2)(0.0f);
    acc6 = (f32x2)(0.0f);
    acc7 = (f32x2)(0.0f);
    acc8 = (f32x2)(0.0f);
    acc9 = (f32x2)(0.0f);
    acc10 = (f32x2)(0.0f);
    acc11 = (f32x2)(0.0f);
    acc12 = (f32x2)(0.0f);
    acc13 = (f32x2)(0.0f);
    acc14 = (f32x2)(0.0f);
    acc15 = (f32x2)(0.0f);
    acc16 = (f32x2)(0.0f);
    acc17 = (f32x2)(0.0f);
    acc18 = (f32x2)(0.0f);
    acc19 = (f32x2)(0.0f);
    acc20 = (f32x2)(0.0f);
    acc21 = (f32x2)(0.0f);
    acc22 = (f32x2)(0.0f);
    acc23 = (f32x2)(0.0f);
    acc24 = (f32x2)(0.0f);
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      long long alu9 = ridx1 * 36ll;
      long long alu10 = alu7 + alu9;
      for (long long ridx2 = 0; ridx2 < 3ll; ridx2++) {
        long long alu11 = alu10 + ridx2 * 6ll;
        long long alu12 = alu8 + ridx2;
        _Bool alu13 = !(alu12 < 1ll);
        long long alu14 = alu9 + ridx2 * 12ll;
        _Bool alu15 = alu12 < 6ll;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu16 = alu11 + ridx3;
          _Bool alu17 = !(ridx3 < 1ll);
          float val0 = (alu13 & alu17) ? data1[alu16 + (-7ll)] : 0.0f;
          f32x2 alu18 = (f32x2)(val0);
          long long alu19 = alu14 + ridx3 * 4ll;
          f32x2 val1 = *(f32x2_m*)(row0 + alu19);
          acc1 = __builtin_elementwise_fma(alu18, val1, acc1);
          f32x2 val2 = *(f32x2_m*)(row0 + alu19 + 2ll);
          acc2 = __builtin_elementwise_fma(alu18, val2, acc2);
          float val3 = (alu15 & alu17) ? data1[alu16 + (-1ll)] : 0.0f;
          f32x2 alu20 = (f32x2)(val3);
          acc3 = __builtin_elementwise_fma(alu20, val1, acc3);
          acc4 = __builtin_elementwise_fma(alu20, val2, acc4);
          float val4 = alu13 ? data1[alu16 + (-6ll)] : 0.0f;
          f32x2 alu21 = (f32x2)(val4);
          acc5 = __builtin_elementwise_fma(alu21, val1, acc5);
          acc6 = __builtin_elementwise_fma(alu21, val2, acc6);
          float val5 = alu15 ? data1[alu16] : 0.0f;
          f32x2 alu22 = (f32x2)(val5);
          acc7 = __builtin_elementwise_fma(alu22, val1, acc7);
          acc8 = __builtin_elementwise_fma(alu22, val2, acc8);
          float val6 = alu13 ? data1[alu16 + (-5ll)] : 0.0f;
          f32x2 alu23 = (f32x2)(val6);
          acc9 = __builtin_elementwise_fma(alu23, val1, acc9);
          acc10 = __builtin_elementwise_fma(alu23, val2, acc10);
          float val7 = alu15 ? data1[alu16 + 1ll] : 0.0f;
          f32x2 alu24 = (f32x2)(val7);
          acc11 = __builtin_elementwise_fma(alu24, val1, acc11);
          acc12 = __builtin_elementwise_fma(alu24, val2, acc12);
          float val8 = alu13 ? data1[alu16 + (-4ll)] : 0.0f;
          f32x2 alu25 = (f32x2)(val8);
          acc13 = __builtin_elementwise_fma(alu25, val1, acc13);
          acc14 = __builtin_elementwise_fma(alu25, val2, acc14);
          float val9 = alu15 ? data1[alu16 + 2ll] : 0.0f;
          f32x2 alu26 = (f32x2)(val9);
          acc15 = __builtin_elementwise_fma(alu26, val1, acc15);
          acc16 = __builtin_elementwise_fma(alu26, val2, acc16);
          float val10 = alu13 ? data1[alu16 + (-3ll)] : 0.0f;
          f32x2 alu27 = (f32x2)(val10);
          acc17 = __builtin_elementwise_fma(alu27, val1, acc17);
          acc18 = __builtin_elementwise_fma(alu27, val2, acc18);
          float val11 = alu15 ? data1[alu16 + 3ll] : 0.0f;
          f32x2 alu28 = (f32x2)(val11);
          acc19 = __builtin_elementwise_fma(alu28, val1, acc19);
          acc20 = __builtin_elementwise_fma(alu28, val2, acc20);
          _Bool alu29 = ridx3 < 2ll;
          float val12 = (alu13 & alu29) ? data1[alu16 + (-2ll)] : 0.0f;
          f32x2 alu30 = (f32x2)(val12);
          acc21 = __builtin_elementwise_fma(alu30, val1, acc21);
          acc22 = __builtin_elementwise_fma(alu30, val2, acc22);
          float val13 = (alu15 & alu29) ? data1[alu16 + 4ll] : 0.0f;
          f32x2 alu31 = (f32x2)(val13);
          acc23 = __builtin_elementwise_fma(alu31, val1, acc23);
          acc24 = __builtin_elementwise_fma(alu31, val2, acc24);
        }
      }
    }
    f32x2 alu32 = max_f32x2(acc1, (f32x2)(0.0f));
    f32x2 alu33 = max_f32x2(acc2, (f32x2)(0.0f));
    f32x2 alu34 = max_f32x2(acc3, (f32x2)(0.0f));
    f32x2 alu35 = max_f32x2(acc4, (f32x2)(0.0f));
    f32x2 alu36 = max_f32x2(acc5, (f32x2)(0.0f));
    f32x2 alu37 = max_f32x2(acc6, (f32x2)(0.0f));
    f32x2 alu38 = max_f32x2(acc7, (f32x2)(0.0f));
    f32x2 alu39 = max_f32x2(acc8, (f32x2)(0.0f));
    f32x2 alu40 = max_f32x2(acc9, (f32x2)(0.0f));
    f32x2 alu41 = max_f32x2(acc10, (f32x2)(0.0f));
    f32x2 alu42 = max_f32x2(acc11, (f32x2)(0.0f));
    f32x2 alu43 = max_f32x2(acc12, (f32x2)(0.0f));
    f32x2 alu44 = max_f32x2(acc13, (f32x2)(0.0f));
    f32x2 alu45 = max_f32x2(acc14, (f32x2)(0.0f));
    f32x2 alu46 = max_f32x2(acc15, (f32x2)(0.0f));
    f32x2 alu47 = max_f32x2(acc16, (f32x2)(0.0f));
    f32x2 alu48 = max_f32x2(acc17, (f32x2)(0.0f));
    f32x2 alu49 = max_f32x2(acc18, (f32x2)(0.0f));
    f32x2 alu50 = max_f32x2(acc19, (f32x2)(0.0f));
    f32x2 alu51 = max_f32x2(acc20, (f32x2)(0.0f));
    f32x2 alu52 = max_f32x2(acc21, (f32x2)(0.0f));
    f32x2 alu53 = max_f32x2(acc22, (f32x2)(0.0f));
    f32x2 alu54 = max_f32x2(acc23, (f32x2)(0.0f));
    f32x2 alu55 = max_f32x2(acc24, (f32x2)(0.0f));
    data0[alu7] = alu32[0];
    data0[alu7 + 36ll] = alu32[1];
    data0[alu7 + 36ll] = alu33[0];
    data0[alu7 + 72ll] = alu33[1];
    data0[alu7 + 6ll] = alu34[0];
    data0[alu7 + 42ll] = alu34[1];
    data0[alu7 + 42ll] = alu35[0];
    data0[alu7 + 78ll] = alu35[1];
    data0[alu7 + 1ll] = alu36[0];
    data0[alu7 + 37ll] = alu36[1];
    data0[alu7 + 37ll] = alu37[0];
    data0[alu7 + 73ll] = alu37[1];
    data0[alu7 + 7ll] = alu38[0];
    data0[alu7 + 43ll] = alu38[1];
    data0[alu7 + 43ll] = alu39[0];
    data0[alu7 + 79ll] = alu39[1];
    data0[alu7 + 2ll] = alu40[0];
    data0[alu7 + 38ll] = alu40[1];
    data0[alu7 + 38ll] = alu41[0];
    data0[alu7 + 74ll] = alu41[1];
    data0[alu7 + 8ll] = alu42[0];
    data0[alu7 + 44ll] = alu42[1];
    data0[alu7 + 44ll] = alu43[0];
    data0[alu7 + 80ll] = alu43[1];
    data0[alu7 + 3ll] = alu44[0];
    data0[alu7 + 39ll] = alu44[1];
    data0[alu7 + 39ll] = alu45[0];
    data0[alu7 + 75ll] = alu45[1];
    data0[alu7 + 9ll] = alu46[0];
    data0[alu7 + 45ll] = alu46[1];
    data0[alu7 + 45ll] = alu47[0];
    data0[alu7 + 81ll] = alu47[1];
    data0[alu7 + 4ll] = alu48[0];
    data0[alu7 + 40ll] = alu48[1];
    data0[alu7 + 40ll] = alu49[0];
    data0[alu7 + 76ll] = alu49[1];
    data0[alu7 + 10ll] = alu50[0];
    data0[alu7 + 46ll] = alu50[1];
    data0[alu7 + 46ll] = alu51[0];
    data0[alu7 + 82ll] = alu51[1];
    data0[alu7 + 5ll] = alu52[0];
    data0[alu7 + 41ll] = alu52[1];
    data0[alu7 + 41ll] = alu53[0];
    data0[alu7 + 77ll] = alu53[1];
    data0[alu7 + 11ll] = alu54[0];
    data0[alu7 + 47ll] = alu54[1];
    data0[alu7 + 47ll] = alu55[0];
    data0[alu7 + 83ll] = alu55[1];
  }
}
