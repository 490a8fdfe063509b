// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 1, 3), Opt(UPCAST, 2, 6), Opt(PACK, 1, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_2_2_3_3_6_3_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  float row0[36] __attribute__((aligned(64)));
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
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = ridx0 * 2ll;
    long long alu1 = (alu0 < 1ll) ? alu0 : 1ll;
    long long alu2 = alu1 * 18ll;
    for (long long ridx9 = 0; ridx9 < 2ll; ridx9++) {
      long long alu3 = alu2 + ridx9 * 9ll;
      long long alu4 = ridx9 * 18ll;
      for (long long ridx10 = 0; ridx10 < 3ll; ridx10++) {
        long long alu5 = alu3 + ridx10 * 3ll;
        long long alu6 = alu4 + ridx10 * 6ll;
        for (long long ridx11 = 0; ridx11 < 2ll; ridx11++) {
          long long alu7 = ridx11 * 2ll;
          long long alu8 = (alu7 < 1ll) ? alu7 : 1ll;
          long long alu9 = alu5 + alu8;
          f32x4 alu10 = __builtin_shufflevector(*(const f32x2_m*)(data2 + alu9),
              *(const f32x2_m*)(data2 + alu9 + 18ll), 0, 1, 2, 3);
          long long alu11 = alu6 + alu8 * 2ll;
          *(f32x2_m*)(row0 + alu11) = __builtin_shufflevector(alu10, alu10, 0, 2);
          *(f32x2_m*)(row0 + alu11 + 2ll) = __builtin_shufflevector(alu10, alu10, 1, 3);
        }
      }
    }
    long long alu12 = alu1 * 36ll;
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu13 = ridx1 * 18ll;
      long long alu14 = ridx1 * 3ll;
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
      for (long long ridx2 = 0; ridx2 < 2ll; ridx2++) {
        long long alu15 = alu13 + ridx2 * 36ll;
        long long alu16 = ridx2 * 18ll;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu17 = ridx3 * 6ll;
          long long alu18 = alu15 + alu17;
          long long alu19 = alu14 + ridx3;
          _Bool alu20 = !(alu19 < 1ll);
          long long alu21 = alu16 + alu17;
          _Bool alu22 = alu19 < 5ll;
          for (long long ridx4 = 0; ridx4 < 3ll; ridx4++) {
            long long alu23 = alu18 + ridx4;
            _Bool alu24 = !(ridx4 < 1ll);
            float val0 = (alu20 & alu24) ? data1[alu23 + (-7ll)] : 0.0f;
            f32x2 val1 = *(f32x2_m*)(row0 + alu21 + ridx4 * 2ll);
            acc1 = __builtin_elementwise_fma((f32x2)(val0), val1, acc1);
            float val2 = alu24 ? data1[alu23 + (-1ll)] : 0.0f;
            acc2 = __builtin_elementwise_fma((f32x2)(val2), val1, acc2);
            float val3 = (alu22 & alu24) ? data1[alu23 + 5ll] : 0.0f;
            acc3 = __builtin_elementwise_fma((f32x2)(val3), val1, acc3);
            float val4 = alu20 ? data1[alu23 + (-6ll)] : 0.0f;
            acc4 = __builtin_elementwise_fma((f32x2)(val4), val1, acc4);
            float val5 = data1[alu23];
            acc5 = __builtin_elementwise_fma((f32x2)(val5), val1, acc5);
            float val6 = alu22 ? data1[alu23 + 6ll] : 0.0f;
            acc6 = __builtin_elementwise_fma((f32x2)(val6), val1, acc6);
            float val7 = alu20 ? data1[alu23 + (-5ll)] : 0.0f;
            acc7 = __builtin_elementwise_fma((f32x2)(val7), val1, acc7);
            float val8 = data1[alu23 + 1ll];
            acc8 = __builtin_elementwise_fma((f32x2)(val8), val1, acc8);
            float val9 = alu22 ? data1[alu23 + 7ll] : 0.0f;
            acc9 = __builtin_elementwise_fma((f32x2)(val9), val1, acc9);
            float val10 = alu20 ? data1[alu23 + (-4ll)] : 0.0f;
            acc10 = __builtin_elementwise_fma((f32x2)(val10), val1, acc10);
            float val11 = data1[alu23 + 2ll];
            acc11 = __builtin_elementwise_fma((f32x2)(val11), val1, acc11);
            float val12 = alu22 ? data1[alu23 + 8ll] : 0.0f;
            acc12 = __builtin_elementwise_fma((f32x2)(val12), val1, acc12);
            float val13 = alu20 ? data1[alu23 + (-3ll)] : 0.0f;
            acc13 = __builtin_elementwise_fma((f32x2)(val13), val1, acc13);
            float val14 = data1[alu23 + 3ll];
            acc14 = __builtin_elementwise_fma((f32x2)(val14), val1, acc14);
            float val15 = alu22 ? data1[alu23 + 9ll] : 0.0f;
            acc15 = __builtin_elementwise_fma((f32x2)(val15), val1, acc15);
            _Bool alu25 = ridx4 < 2ll;
            float val16 = (alu20 & alu25) ? data1[alu23 + (-2ll)] : 0.0f;
            acc16 = __builtin_elementwise_fma((f32x2)(val16), val1, acc16);
            float val17 = alu25 ? data1[alu23 + 4ll] : 0.0f;
            acc17 = __builtin_elementwise_fma((f32x2)(val17), val1, acc17);
            float val18 = (alu22 & alu25) ? data1[alu23 + 10ll] : 0.0f;
            acc18 = __builtin_elementwise_fma((f32x2)(val18), val1, acc18);
          }
        }
      }
      f32x2 alu26 = max_f32x2(acc1, (f32x2)(0.0f));
      long long alu27 = alu12 + alu13;
      f32x2 alu28 = max_f32x2(acc2, (f32x2)(0.0f));
      f32x2 alu29 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu30 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu31 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu32 = max_f32x2(acc6, (f32x2)(0.0f));
      f32x2 alu33 = max_f32x2(acc7, (f32x2)(0.0f));
      f32x2 alu34 = max_f32x2(acc8, (f32x2)(0.0f));
      f32x2 alu35 = max_f32x2(acc9, (f32x2)(0.0f));
      f32x2 alu36 = max_f32x2(acc10, (f32x2)(0.0f));
      f32x2 alu37 = max_f32x2(acc11, (f32x2)(0.0f));
      f32x2 alu38 = max_f32x2(acc12, (f32x2)(0.0f));
      f32x2 alu39 = max_f32x2(acc13, (f32x2)(0.0f));
      f32x2 alu40 = max_f32x2(acc14, (f32x2)(0.0f));
      f32x2 alu41 = max_f32x2(acc15, (f32x2)(0.0f));
      f32x2 alu42 = max_f32x2(acc16, (f32x2)(0.0f));
      f32x2 alu43 = max_f32x2(acc17, (f32x2)(0.0f));
      f32x2 alu44 = max_f32x2(acc18, (f32x2)(0.0f));
      data0[alu27] = alu26[0];
      data0[alu27 + 36ll] = alu26[1];
      data0[alu27 + 6ll] = alu28[0];
      data0[alu27 + 42ll] = alu28[1];
      data0[alu27 + 12ll] = alu29[0];
      data0[alu27 + 48ll] = alu29[1];
      data0[alu27 + 1ll] = alu30[0];
      data0[alu27 + 37ll] = alu30[1];
      data0[alu27 + 7ll] = alu31[0];
      data0[alu27 + 43ll] = alu31[1];
      data0[alu27 + 13ll] = alu32[0];
      data0[alu27 + 49ll] = alu32[1];
      data0[alu27 + 2ll] = alu33[0];
      data0[alu27 + 38ll] = alu33[1];
      data0[alu27 + 8ll] = alu34[0];
      data0[alu27 + 44ll] = alu34[1];
      data0[alu27 + 14ll] = alu35[0];
      data0[alu27 + 50ll] = alu35[1];
      data0[alu27 + 3ll] = alu36[0];
      data0[alu27 + 39ll] = alu36[1];
      data0[alu27 + 9ll] = alu37[0];
      data0[alu27 + 45ll] = alu37[1];
      data0[alu27 + 15ll] = alu38[0];
      data0[alu27 + 51ll] = alu38[1];
      data0[alu27 + 4ll] = alu39[0];
      data0[alu27 + 40ll] = alu39[1];
      data0[alu27 + 10ll] = alu40[0];
      data0[alu27 + 46ll] = alu40[1];
      data0[alu27 + 16ll] = alu41[0];
      data0[alu27 + 52ll] = alu41[1];
      data0[alu27 + 5ll] = alu42[0];
      data0[alu27 + 41ll] = alu42[1];
      data0[alu27 + 11ll] = alu43[0];
      data0[alu27 + 47ll] = alu43[1];
      data0[alu27 + 17ll] = alu44[0];
      data0[alu27 + 53ll] = alu44[1];
    }
  }
}
