// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 1, 3), Opt(UPCAST, 2, 6), Opt(PACK, 1, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
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
  #pragma clang loop unroll(disable)
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = ridx0 * 2ll;
    long long alu1 = (alu0 < 1ll) ? alu0 : 1ll;
    long long alu2 = alu1 * 18ll;
    #pragma clang loop unroll(disable)
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
          f32x2 val0 = *(const f32x2_m*)(data2 + alu9);
          f32x2 val1 = *(const f32x2_m*)(data2 + alu9 + 18ll);
          long long alu10 = alu6 + alu8 * 2ll;
          *(f32x2_m*)(row0 + alu10) = __builtin_shufflevector(val0, val1, 0, 2);
          *(f32x2_m*)(row0 + alu10 + 2ll) = __builtin_shufflevector(val0, val1, 1, 3);
        }
      }
    }
    long long alu11 = alu1 * 36ll;
    #pragma clang loop unroll(disable)
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu12 = ridx1 * 18ll;
      long long alu13 = ridx1 * 3ll;
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
      #pragma clang loop unroll(disable)
      for (long long ridx2 = 0; ridx2 < 2ll; ridx2++) {
        long long alu14 = alu12 + ridx2 * 36ll;
        long long alu15 = ridx2 * 18ll;
        #pragma clang loop unroll(disable)
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu16 = ridx3 * 6ll;
          long long alu17 = alu14 + alu16;
          long long alu18 = alu13 + ridx3;
          _Bool alu19 = !(alu18 < 1ll);
          long long alu20 = alu15 + alu16;
          _Bool alu21 = alu18 < 5ll;
          for (long long ridx4 = 0; ridx4 < 3ll; ridx4++) {
            long long alu22 = alu17 + ridx4;
            _Bool alu23 = !(ridx4 < 1ll);
            float val2 = (alu19 & alu23) ? data1[alu22 + (-7ll)] : 0.0f;
            f32x2 val3 = *(f32x2_m*)(row0 + alu20 + ridx4 * 2ll);
            acc1 = __builtin_elementwise_fma((f32x2)(val2), val3, acc1);
            float val4 = alu19 ? data1[alu22 + (-6ll)] : 0.0f;
            acc2 = __builtin_elementwise_fma((f32x2)(val4), val3, acc2);
            float val5 = alu19 ? data1[alu22 + (-5ll)] : 0.0f;
            acc3 = __builtin_elementwise_fma((f32x2)(val5), val3, acc3);
            float val6 = alu19 ? data1[alu22 + (-4ll)] : 0.0f;
            acc4 = __builtin_elementwise_fma((f32x2)(val6), val3, acc4);
            float val7 = alu19 ? data1[alu22 + (-3ll)] : 0.0f;
            acc5 = __builtin_elementwise_fma((f32x2)(val7), val3, acc5);
            _Bool alu24 = ridx4 < 2ll;
            float val8 = (alu19 & alu24) ? data1[alu22 + (-2ll)] : 0.0f;
            acc6 = __builtin_elementwise_fma((f32x2)(val8), val3, acc6);
            float val9 = alu23 ? data1[alu22 + (-1ll)] : 0.0f;
            acc7 = __builtin_elementwise_fma((f32x2)(val9), val3, acc7);
            float val10 = data1[alu22];
            acc8 = __builtin_elementwise_fma((f32x2)(val10), val3, acc8);
            float val11 = data1[alu22 + 1ll];
            acc9 = __builtin_elementwise_fma((f32x2)(val11), val3, acc9);
            float val12 = data1[alu22 + 2ll];
            acc10 = __builtin_elementwise_fma((f32x2)(val12), val3, acc10);
            float val13 = data1[alu22 + 3ll];
            acc11 = __builtin_elementwise_fma((f32x2)(val13), val3, acc11);
            float val14 = alu24 ? data1[alu22 + 4ll] : 0.0f;
            acc12 = __builtin_elementwise_fma((f32x2)(val14), val3, acc12);
            float val15 = (alu21 & alu23) ? data1[alu22 + 5ll] : 0.0f;
            acc13 = __builtin_elementwise_fma((f32x2)(val15), val3, acc13);
            float val16 = alu21 ? data1[alu22 + 6ll] : 0.0f;
            acc14 = __builtin_elementwise_fma((f32x2)(val16), val3, acc14);
            float val17 = alu21 ? data1[alu22 + 7ll] : 0.0f;
            acc15 = __builtin_elementwise_fma((f32x2)(val17), val3, acc15);
            float val18 = alu21 ? data1[alu22 + 8ll] : 0.0f;
            acc16 = __builtin_elementwise_fma((f32x2)(val18), val3, acc16);
            float val19 = alu21 ? data1[alu22 + 9ll] : 0.0f;
            acc17 = __builtin_elementwise_fma((f32x2)(val19), val3, acc17);
            float val20 = (alu21 & alu24) ? data1[alu22 + 10ll] : 0.0f;
            acc18 = __builtin_elementwise_fma((f32x2)(val20), val3, acc18);
          }
        }
      }
      f32x2 alu25 = max_f32x2(acc1, (f32x2)(0.0f));
      f32x2 alu26 = max_f32x2(acc2, (f32x2)(0.0f));
      long long alu27 = alu11 + alu12;
      f32x2 alu28 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu29 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu30 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu31 = max_f32x2(acc6, (f32x2)(0.0f));
      f32x2 alu32 = max_f32x2(acc7, (f32x2)(0.0f));
      f32x2 alu33 = max_f32x2(acc8, (f32x2)(0.0f));
      f32x2 alu34 = max_f32x2(acc9, (f32x2)(0.0f));
      f32x2 alu35 = max_f32x2(acc10, (f32x2)(0.0f));
      f32x2 alu36 = max_f32x2(acc11, (f32x2)(0.0f));
      f32x2 alu37 = max_f32x2(acc12, (f32x2)(0.0f));
      f32x2 alu38 = max_f32x2(acc13, (f32x2)(0.0f));
      f32x2 alu39 = max_f32x2(acc14, (f32x2)(0.0f));
      f32x2 alu40 = max_f32x2(acc15, (f32x2)(0.0f));
      f32x2 alu41 = max_f32x2(acc16, (f32x2)(0.0f));
      f32x2 alu42 = max_f32x2(acc17, (f32x2)(0.0f));
      f32x2 alu43 = max_f32x2(acc18, (f32x2)(0.0f));
      *(f32x2_m*)(data0 + alu27) = __builtin_shufflevector(alu25, alu26, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 36ll) = __builtin_shufflevector(alu25, alu26, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 2ll) = __builtin_shufflevector(alu28, alu29, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 38ll) = __builtin_shufflevector(alu28, alu29, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 4ll) = __builtin_shufflevector(alu30, alu31, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 40ll) = __builtin_shufflevector(alu30, alu31, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 6ll) = __builtin_shufflevector(alu32, alu33, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 42ll) = __builtin_shufflevector(alu32, alu33, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 8ll) = __builtin_shufflevector(alu34, alu35, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 44ll) = __builtin_shufflevector(alu34, alu35, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 10ll) = __builtin_shufflevector(alu36, alu37, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 46ll) = __builtin_shufflevector(alu36, alu37, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 12ll) = __builtin_shufflevector(alu38, alu39, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 48ll) = __builtin_shufflevector(alu38, alu39, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 14ll) = __builtin_shufflevector(alu40, alu41, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 50ll) = __builtin_shufflevector(alu40, alu41, 1, 3);
      *(f32x2_m*)(data0 + alu27 + 16ll) = __builtin_shufflevector(alu42, alu43, 0, 2);
      *(f32x2_m*)(data0 + alu27 + 52ll) = __builtin_shufflevector(alu42, alu43, 1, 3);
    }
  }
}
