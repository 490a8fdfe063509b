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
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 2ll : 1ll;
    long long alu1 = alu0 * 18ll;
    for (long long ridx9 = 0; ridx9 < 2ll; ridx9++) {
      long long alu2 = alu1 + ridx9 * 9ll;
      long long alu3 = ridx9 * 18ll;
      for (long long ridx10 = 0; ridx10 < 3ll; ridx10++) {
        long long alu4 = alu2 + ridx10 * 3ll;
        long long alu5 = alu3 + ridx10 * 6ll;
        for (long long ridx11 = 0; ridx11 < 3ll; ridx11++) {
          long long alu6 = alu4 + ridx11;
          *(f32x2_m*)(row0 + alu5 + ridx11 * 2ll) = (f32x2){data2[alu6], data2[alu6 + 18ll]};
        }
      }
    }
    long long alu7 = alu0 * 36ll;
    #pragma clang loop unroll(disable)
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu8 = ridx1 * 18ll;
      long long alu9 = ridx1 * 3ll;
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
        long long alu10 = alu8 + ridx2 * 36ll;
        long long alu11 = ridx2 * 18ll;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu12 = ridx3 * 6ll;
          long long alu13 = alu10 + alu12;
          long long alu14 = alu9 + ridx3;
          _Bool alu15 = !(alu14 < 1ll);
          const float* place0 = (alu15) ? data1 + (alu13 + (-5)) : zeros_float + 1;
          float val0 = place0[0];
          f32x2 alu16 = (f32x2)(val0);
          long long alu17 = alu11 + alu12;
          f32x2 val1 = *(f32x2_m*)(row0 + alu17 + 4ll);
          float val2 = place0[-1];
          f32x2 alu18 = (f32x2)(val2);
          f32x2 val3 = *(f32x2_m*)(row0 + alu17 + 2ll);
          f32x2 val4 = *(f32x2_m*)(row0 + alu17);
          f32x2 alu19 = __builtin_elementwise_fma(alu18, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc1));
          acc1 = __builtin_elementwise_fma(alu16, val1, alu19);
          float val5 = place0[1];
          f32x2 alu20 = (f32x2)(val5);
          f32x2 alu21 = __builtin_elementwise_fma(alu16, val3, __builtin_elementwise_fma(alu18, val4, acc2));
          acc2 = __builtin_elementwise_fma(alu20, val1, alu21);
          float val6 = place0[2];
          f32x2 alu22 = (f32x2)(val6);
          f32x2 alu23 = __builtin_elementwise_fma(alu20, val3, __builtin_elementwise_fma(alu16, val4, acc3));
          acc3 = __builtin_elementwise_fma(alu22, val1, alu23);
          float val7 = place0[3];
          f32x2 alu24 = (f32x2)(val7);
          f32x2 alu25 = __builtin_elementwise_fma(alu22, val3, __builtin_elementwise_fma(alu20, val4, acc4));
          acc4 = __builtin_elementwise_fma(alu24, val1, alu25);
          float val8 = place0[4];
          f32x2 alu26 = (f32x2)(val8);
          f32x2 alu27 = __builtin_elementwise_fma(alu24, val3, __builtin_elementwise_fma(alu22, val4, acc5));
          acc5 = __builtin_elementwise_fma(alu26, val1, alu27);
          f32x2 alu28 = __builtin_elementwise_fma(alu26, val3, __builtin_elementwise_fma(alu24, val4, acc6));
          acc6 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu28);
          float val9 = data1[alu13 + 1ll];
          f32x2 alu29 = (f32x2)(val9);
          float val10 = data1[alu13];
          f32x2 alu30 = (f32x2)(val10);
          f32x2 alu31 = __builtin_elementwise_fma(alu30, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc7));
          acc7 = __builtin_elementwise_fma(alu29, val1, alu31);
          float val11 = data1[alu13 + 2ll];
          f32x2 alu32 = (f32x2)(val11);
          f32x2 alu33 = __builtin_elementwise_fma(alu29, val3, __builtin_elementwise_fma(alu30, val4, acc8));
          acc8 = __builtin_elementwise_fma(alu32, val1, alu33);
          float val12 = data1[alu13 + 3ll];
          f32x2 alu34 = (f32x2)(val12);
          f32x2 alu35 = __builtin_elementwise_fma(alu32, val3, __builtin_elementwise_fma(alu29, val4, acc9));
          acc9 = __builtin_elementwise_fma(alu34, val1, alu35);
          float val13 = data1[alu13 + 4ll];
          f32x2 alu36 = (f32x2)(val13);
          f32x2 alu37 = __builtin_elementwise_fma(alu34, val3, __builtin_elementwise_fma(alu32, val4, acc10));
          acc10 = __builtin_elementwise_fma(alu36, val1, alu37);
          float val14 = data1[alu13 + 5ll];
          f32x2 alu38 = (f32x2)(val14);
          f32x2 alu39 = __builtin_elementwise_fma(alu36, val3, __builtin_elementwise_fma(alu34, val4, acc11));
          acc11 = __builtin_elementwise_fma(alu38, val1, alu39);
          f32x2 alu40 = __builtin_elementwise_fma(alu38, val3, __builtin_elementwise_fma(alu36, val4, acc12));
          acc12 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu40);
          _Bool alu41 = alu14 < 5ll;
          const float* place1 = (alu41) ? data1 + (alu13 + (7)) : zeros_float + 1;
          float val15 = place1[0];
          f32x2 alu42 = (f32x2)(val15);
          float val16 = place1[-1];
          f32x2 alu43 = (f32x2)(val16);
          f32x2 alu44 = __builtin_elementwise_fma(alu43, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc13));
          acc13 = __builtin_elementwise_fma(alu42, val1, alu44);
          float val17 = place1[1];
          f32x2 alu45 = (f32x2)(val17);
          f32x2 alu46 = __builtin_elementwise_fma(alu42, val3, __builtin_elementwise_fma(alu43, val4, acc14));
          acc14 = __builtin_elementwise_fma(alu45, val1, alu46);
          float val18 = place1[2];
          f32x2 alu47 = (f32x2)(val18);
          f32x2 alu48 = __builtin_elementwise_fma(alu45, val3, __builtin_elementwise_fma(alu42, val4, acc15));
          acc15 = __builtin_elementwise_fma(alu47, val1, alu48);
          float val19 = place1[3];
          f32x2 alu49 = (f32x2)(val19);
          f32x2 alu50 = __builtin_elementwise_fma(alu47, val3, __builtin_elementwise_fma(alu45, val4, acc16));
          acc16 = __builtin_elementwise_fma(alu49, val1, alu50);
          float val20 = place1[4];
          f32x2 alu51 = (f32x2)(val20);
          f32x2 alu52 = __builtin_elementwise_fma(alu49, val3, __builtin_elementwise_fma(alu47, val4, acc17));
          acc17 = __builtin_elementwise_fma(alu51, val1, alu52);
          f32x2 alu53 = __builtin_elementwise_fma(alu51, val3, __builtin_elementwise_fma(alu49, val4, acc18));
          acc18 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu53);
        }
      }
      f32x2 alu54 = max_f32x2(acc1, (f32x2)(0.0f));
      f32x2 alu55 = max_f32x2(acc2, (f32x2)(0.0f));
      long long alu56 = alu7 + alu8;
      f32x2 alu57 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu58 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu59 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu60 = max_f32x2(acc6, (f32x2)(0.0f));
      f32x2 alu61 = max_f32x2(acc7, (f32x2)(0.0f));
      f32x2 alu62 = max_f32x2(acc8, (f32x2)(0.0f));
      f32x2 alu63 = max_f32x2(acc9, (f32x2)(0.0f));
      f32x2 alu64 = max_f32x2(acc10, (f32x2)(0.0f));
      f32x2 alu65 = max_f32x2(acc11, (f32x2)(0.0f));
      f32x2 alu66 = max_f32x2(acc12, (f32x2)(0.0f));
      f32x2 alu67 = max_f32x2(acc13, (f32x2)(0.0f));
      f32x2 alu68 = max_f32x2(acc14, (f32x2)(0.0f));
      f32x2 alu69 = max_f32x2(acc15, (f32x2)(0.0f));
      f32x2 alu70 = max_f32x2(acc16, (f32x2)(0.0f));
      f32x2 alu71 = max_f32x2(acc17, (f32x2)(0.0f));
      f32x2 alu72 = max_f32x2(acc18, (f32x2)(0.0f));
      *(f32x2_m*)(data0 + alu56) = __builtin_shufflevector(alu54, alu55, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 36ll) = __builtin_shufflevector(alu54, alu55, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 2ll) = __builtin_shufflevector(alu57, alu58, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 38ll) = __builtin_shufflevector(alu57, alu58, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 4ll) = __builtin_shufflevector(alu59, alu60, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 40ll) = __builtin_shufflevector(alu59, alu60, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 6ll) = __builtin_shufflevector(alu61, alu62, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 42ll) = __builtin_shufflevector(alu61, alu62, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 8ll) = __builtin_shufflevector(alu63, alu64, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 44ll) = __builtin_shufflevector(alu63, alu64, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 10ll) = __builtin_shufflevector(alu65, alu66, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 46ll) = __builtin_shufflevector(alu65, alu66, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 12ll) = __builtin_shufflevector(alu67, alu68, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 48ll) = __builtin_shufflevector(alu67, alu68, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 14ll) = __builtin_shufflevector(alu69, alu70, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 50ll) = __builtin_shufflevector(alu69, alu70, 1, 3);
      *(f32x2_m*)(data0 + alu56 + 16ll) = __builtin_shufflevector(alu71, alu72, 0, 2);
      *(f32x2_m*)(data0 + alu56 + 52ll) = __builtin_shufflevector(alu71, alu72, 1, 3);
    }
  }
}
