// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 1, 3), Opt(UPCAST, 2, 6), Opt(UNROLL, 4, 0), Opt(PACK, 1, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_2_2_3_6_3_3_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
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
  static const float zeros_float[64] = {0};
  #pragma clang loop unroll(disable)
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
        for (long long ridx11 = 0; ridx11 < 3ll; ridx11++) {
          long long alu7 = alu5 + ridx11;
          *(f32x2_m*)(row0 + alu6 + ridx11 * 2ll) = (f32x2){data2[alu7], data2[alu7 + 18ll]};
        }
      }
    }
    long long alu8 = alu1 * 36ll;
    #pragma clang loop unroll(disable)
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu9 = ridx1 * 18ll;
      long long alu10 = ridx1 * 3ll;
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
        long long alu11 = alu9 + ridx2 * 36ll;
        long long alu12 = ridx2 * 18ll;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu13 = ridx3 * 6ll;
          long long alu14 = alu11 + alu13;
          long long alu15 = alu10 + ridx3;
          _Bool alu16 = !(alu15 < 1ll);
          const float* place0 = (alu16) ? data1 + (alu14 + (-5)) : zeros_float + 1;
          float val0 = place0[0];
          f32x2 alu17 = (f32x2)(val0);
          long long alu18 = alu12 + alu13;
          f32x2 val1 = *(f32x2_m*)(row0 + alu18 + 4ll);
          float val2 = place0[-1];
          f32x2 alu19 = (f32x2)(val2);
          f32x2 val3 = *(f32x2_m*)(row0 + alu18 + 2ll);
          f32x2 val4 = *(f32x2_m*)(row0 + alu18);
          f32x2 alu20 = __builtin_elementwise_fma(alu19, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc1));
          acc1 = __builtin_elementwise_fma(alu17, val1, alu20);
          float val5 = place0[1];
          f32x2 alu21 = (f32x2)(val5);
          f32x2 alu22 = __builtin_elementwise_fma(alu17, val3, __builtin_elementwise_fma(alu19, val4, acc2));
          acc2 = __builtin_elementwise_fma(alu21, val1, alu22);
          float val6 = place0[2];
          f32x2 alu23 = (f32x2)(val6);
          f32x2 alu24 = __builtin_elementwise_fma(alu21, val3, __builtin_elementwise_fma(alu17, val4, acc3));
          acc3 = __builtin_elementwise_fma(alu23, val1, alu24);
          float val7 = place0[3];
          f32x2 alu25 = (f32x2)(val7);
          f32x2 alu26 = __builtin_elementwise_fma(alu23, val3, __builtin_elementwise_fma(alu21, val4, acc4));
          acc4 = __builtin_elementwise_fma(alu25, val1, alu26);
          float val8 = place0[4];
          f32x2 alu27 = (f32x2)(val8);
          f32x2 alu28 = __builtin_elementwise_fma(alu25, val3, __builtin_elementwise_fma(alu23, val4, acc5));
          acc5 = __builtin_elementwise_fma(alu27, val1, alu28);
          f32x2 alu29 = __builtin_elementwise_fma(alu27, val3, __builtin_elementwise_fma(alu25, val4, acc6));
          acc6 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu29);
          float val9 = data1[alu14 + 1ll];
          f32x2 alu30 = (f32x2)(val9);
          float val10 = data1[alu14];
          f32x2 alu31 = (f32x2)(val10);
          f32x2 alu32 = __builtin_elementwise_fma(alu31, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc7));
          acc7 = __builtin_elementwise_fma(alu30, val1, alu32);
          float val11 = data1[alu14 + 2ll];
          f32x2 alu33 = (f32x2)(val11);
          f32x2 alu34 = __builtin_elementwise_fma(alu30, val3, __builtin_elementwise_fma(alu31, val4, acc8));
          acc8 = __builtin_elementwise_fma(alu33, val1, alu34);
          float val12 = data1[alu14 + 3ll];
          f32x2 alu35 = (f32x2)(val12);
          f32x2 alu36 = __builtin_elementwise_fma(alu33, val3, __builtin_elementwise_fma(alu30, val4, acc9));
          acc9 = __builtin_elementwise_fma(alu35, val1, alu36);
          float val13 = data1[alu14 + 4ll];
          f32x2 alu37 = (f32x2)(val13);
          f32x2 alu38 = __builtin_elementwise_fma(alu35, val3, __builtin_elementwise_fma(alu33, val4, acc10));
          acc10 = __builtin_elementwise_fma(alu37, val1, alu38);
          float val14 = data1[alu14 + 5ll];
          f32x2 alu39 = (f32x2)(val14);
          f32x2 alu40 = __builtin_elementwise_fma(alu37, val3, __builtin_elementwise_fma(alu35, val4, acc11));
          acc11 = __builtin_elementwise_fma(alu39, val1, alu40);
          f32x2 alu41 = __builtin_elementwise_fma(alu39, val3, __builtin_elementwise_fma(alu37, val4, acc12));
          acc12 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu41);
          _Bool alu42 = alu15 < 5ll;
          const float* place1 = (alu42) ? data1 + (alu14 + (7)) : zeros_float + 1;
          float val15 = place1[0];
          f32x2 alu43 = (f32x2)(val15);
          float val16 = place1[-1];
          f32x2 alu44 = (f32x2)(val16);
          f32x2 alu45 = __builtin_elementwise_fma(alu44, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc13));
          acc13 = __builtin_elementwise_fma(alu43, val1, alu45);
          float val17 = place1[1];
          f32x2 alu46 = (f32x2)(val17);
          f32x2 alu47 = __builtin_elementwise_fma(alu43, val3, __builtin_elementwise_fma(alu44, val4, acc14));
          acc14 = __builtin_elementwise_fma(alu46, val1, alu47);
          float val18 = place1[2];
          f32x2 alu48 = (f32x2)(val18);
          f32x2 alu49 = __builtin_elementwise_fma(alu46, val3, __builtin_elementwise_fma(alu43, val4, acc15));
          acc15 = __builtin_elementwise_fma(alu48, val1, alu49);
          float val19 = place1[3];
          f32x2 alu50 = (f32x2)(val19);
          f32x2 alu51 = __builtin_elementwise_fma(alu48, val3, __builtin_elementwise_fma(alu46, val4, acc16));
          acc16 = __builtin_elementwise_fma(alu50, val1, alu51);
          float val20 = place1[4];
          f32x2 alu52 = (f32x2)(val20);
          f32x2 alu53 = __builtin_elementwise_fma(alu50, val3, __builtin_elementwise_fma(alu48, val4, acc17));
          acc17 = __builtin_elementwise_fma(alu52, val1, alu53);
          f32x2 alu54 = __builtin_elementwise_fma(alu52, val3, __builtin_elementwise_fma(alu50, val4, acc18));
          acc18 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu54);
        }
      }
      f32x2 alu55 = max_f32x2(acc1, (f32x2)(0.0f));
      f32x2 alu56 = max_f32x2(acc2, (f32x2)(0.0f));
      long long alu57 = alu8 + alu9;
      f32x2 alu58 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu59 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu60 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu61 = max_f32x2(acc6, (f32x2)(0.0f));
      f32x2 alu62 = max_f32x2(acc7, (f32x2)(0.0f));
      f32x2 alu63 = max_f32x2(acc8, (f32x2)(0.0f));
      f32x2 alu64 = max_f32x2(acc9, (f32x2)(0.0f));
      f32x2 alu65 = max_f32x2(acc10, (f32x2)(0.0f));
      f32x2 alu66 = max_f32x2(acc11, (f32x2)(0.0f));
      f32x2 alu67 = max_f32x2(acc12, (f32x2)(0.0f));
      f32x2 alu68 = max_f32x2(acc13, (f32x2)(0.0f));
      f32x2 alu69 = max_f32x2(acc14, (f32x2)(0.0f));
      f32x2 alu70 = max_f32x2(acc15, (f32x2)(0.0f));
      f32x2 alu71 = max_f32x2(acc16, (f32x2)(0.0f));
      f32x2 alu72 = max_f32x2(acc17, (f32x2)(0.0f));
      f32x2 alu73 = max_f32x2(acc18, (f32x2)(0.0f));
      *(f32x2_m*)(data0 + alu57) = __builtin_shufflevector(alu55, alu56, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 36ll) = __builtin_shufflevector(alu55, alu56, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 2ll) = __builtin_shufflevector(alu58, alu59, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 38ll) = __builtin_shufflevector(alu58, alu59, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 4ll) = __builtin_shufflevector(alu60, alu61, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 40ll) = __builtin_shufflevector(alu60, alu61, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 6ll) = __builtin_shufflevector(alu62, alu63, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 42ll) = __builtin_shufflevector(alu62, alu63, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 8ll) = __builtin_shufflevector(alu64, alu65, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 44ll) = __builtin_shufflevector(alu64, alu65, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 10ll) = __builtin_shufflevector(alu66, alu67, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 46ll) = __builtin_shufflevector(alu66, alu67, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 12ll) = __builtin_shufflevector(alu68, alu69, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 48ll) = __builtin_shufflevector(alu68, alu69, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 14ll) = __builtin_shufflevector(alu70, alu71, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 50ll) = __builtin_shufflevector(alu70, alu71, 1, 3);
      *(f32x2_m*)(data0 + alu57 + 16ll) = __builtin_shufflevector(alu72, alu73, 0, 2);
      *(f32x2_m*)(data0 + alu57 + 52ll) = __builtin_shufflevector(alu72, alu73, 1, 3);
    }
  }
}
