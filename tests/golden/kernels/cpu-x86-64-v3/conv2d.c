// opts: Opt(VECTOR, 2, 4), Opt(UPCAST, 0, 3), Opt(UPCAST, 0, 3), Opt(UNROLL, 4, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_2_2_3_3_3_3_4(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  f32x4 acc0;
  f32x4 acc1;
  f32x4 acc2;
  f32x4 acc3;
  f32x4 acc4;
  f32x4 acc5;
  f32x4 acc6;
  f32x4 acc7;
  f32x4 acc8;
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 18;
    int alu1 = ridx0 * 3;
    for (int ridx1 = 0; ridx1 < 2; ridx1++) {
      acc0 = (f32x4)(0.0f);
      int alu2 = ridx1 * 4;
      int alu3 = alu0 + ((alu2 < 2) ? alu2 : 2);
      int alu4 = (ridx1 < 1) ? alu2 : 2;
      _Bool alu5 = alu4 < 4;
      _Bool alu6 = alu4 < 3;
      _Bool alu7 = alu4 < 2;
      _Bool alu8 = !(alu4 < 1);
      acc1 = (f32x4)(0.0f);
      acc2 = (f32x4)(0.0f);
      acc3 = (f32x4)(0.0f);
      acc4 = (f32x4)(0.0f);
      acc5 = (f32x4)(0.0f);
      acc6 = (f32x4)(0.0f);
      acc7 = (f32x4)(0.0f);
      acc8 = (f32x4)(0.0f);
      for (int ridx2 = 0; ridx2 < 2; ridx2++) {
        int alu9 = alu3 + ridx2 * 36;
        int alu10 = ridx2 * 9;
        for (int ridx3 = 0; ridx3 < 3; ridx3++) {
          int alu11 = alu9 + ridx3 * 6;
          int alu12 = alu1 + ridx3;
          _Bool alu13 = !(alu12 < 1);
          float val0 = alu13 ? data1[alu11 + (-5)] : 0.0f;
          float val1 = (alu5 & alu13) ? data1[alu11 + (-4)] : 0.0f;
          float val2 = (alu6 & alu13) ? data1[alu11 + (-3)] : 0.0f;
          f32x4 alu14 = (f32x4){val0, val1, val2, (alu7 & alu13) ? data1[alu11 + (-2)] : 0.0f};
          int alu15 = alu10 + ridx3 * 3;
          float val3 = data2[alu15 + 2];
          f32x4 alu16 = (f32x4)(val3);
          float val4 = alu13 ? data1[alu11 + (-6)] : 0.0f;
          f32x4 alu17 = (f32x4){val4, val0, val1, val2};
          float val5 = data2[alu15 + 1];
          f32x4 alu18 = (f32x4)(val5);
          f32x4 alu19 = (f32x4){(alu8 & alu13) ? data1[alu11 + (-7)] : 0.0f, val4, val0, val1};
          float val6 = data2[alu15];
          f32x4 alu20 = (f32x4)(val6);
          f32x4 alu21 = __builtin_elementwise_fma(alu17, alu18, __builtin_elementwise_fma(alu19, alu20,
              acc0));
          acc0 = __builtin_elementwise_fma(alu14, alu16, alu21);
          float val7 = data2[alu15 + 20];
          f32x4 alu22 = (f32x4)(val7);
          float val8 = data2[alu15 + 19];
          f32x4 alu23 = (f32x4)(val8);
          float val9 = data2[alu15 + 18];
          f32x4 alu24 = (f32x4)(val9);
          f32x4 alu25 = __builtin_elementwise_fma(alu17, alu23, __builtin_elementwise_fma(alu19, alu24,
              acc1));
          acc1 = __builtin_elementwise_fma(alu14, alu22, alu25);
          float val10 = data2[alu15 + 38];
          f32x4 alu26 = (f32x4)(val10);
          float val11 = data2[alu15 + 37];
          f32x4 alu27 = (f32x4)(val11);
          float val12 = data2[alu15 + 36];
          f32x4 alu28 = (f32x4)(val12);
          f32x4 alu29 = __builtin_elementwise_fma(alu17, alu27, __builtin_elementwise_fma(alu19, alu28,
              acc2));
          acc2 = __builtin_elementwise_fma(alu14, alu26, alu29);
          float val13 = data1[alu11 + 1];
          float val14 = alu5 ? data1[alu11 + 2] : 0.0f;
          float val15 = alu6 ? data1[alu11 + 3] : 0.0f;
          f32x4 alu30 = (f32x4){val13, val14, val15, alu7 ? data1[alu11 + 4] : 0.0f};
          float val16 = data1[alu11];
          f32x4 alu31 = (f32x4){val16, val13, val14, val15};
          f32x4 alu32 = (f32x4){alu8 ? data1[alu11 + (-1)] : 0.0f, val16, val13, val14};
          f32x4 alu33 = __builtin_elementwise_fma(alu31, alu18, __builtin_elementwise_fma(alu32, alu20,
              acc3));
          acc3 = __builtin_elementwise_fma(alu30, alu16, alu33);
          f32x4 alu34 = __builtin_elementwise_fma(alu31, alu23, __builtin_elementwise_fma(alu32, alu24,
              acc4));
          acc4 = __builtin_elementwise_fma(alu30, alu22, alu34);
          f32x4 alu35 = __builtin_elementwise_fma(alu31, alu27, __builtin_elementwise_fma(alu32, alu28,
              acc5));
          acc5 = __builtin_elementwise_fma(alu30, alu26, alu35);
          _Bool alu36 = alu12 < 5;
          float val17 = alu36 ? data1[alu11 + 7] : 0.0f;
          float val18 = (alu5 & alu36) ? data1[alu11 + 8] : 0.0f;
          float val19 = (alu6 & alu36) ? data1[alu11 + 9] : 0.0f;
          f32x4 alu37 = (f32x4){val17, val18, val19, (alu7 & alu36) ? data1[alu11 + 10] : 0.0f};
          float val20 = alu36 ? data1[alu11 + 6] : 0.0f;
          f32x4 alu38 = (f32x4){val20, val17, val18, val19};
          f32x4 alu39 = (f32x4){(alu8 & alu36) ? data1[alu11 + 5] : 0.0f, val20, val17, val18};
          f32x4 alu40 = __builtin_elementwise_fma(alu38, alu18, __builtin_elementwise_fma(alu39, alu20,
              acc6));
          acc6 = __builtin_elementwise_fma(alu37, alu16, alu40);
          f32x4 alu41 = __builtin_elementwise_fma(alu38, alu23, __builtin_elementwise_fma(alu39, alu24,
              acc7));
          acc7 = __builtin_elementwise_fma(alu37, alu22, alu41);
          f32x4 alu42 = __builtin_elementwise_fma(alu38, alu27, __builtin_elementwise_fma(alu39, alu28,
              acc8));
          acc8 = __builtin_elementwise_fma(alu37, alu26, alu42);
        }
      }
      *(f32x4_m*)(data0 + alu3) = max_f32x4(acc0, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 36) = max_f32x4(acc1, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 72) = max_f32x4(acc2, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 6) = max_f32x4(acc3, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 42) = max_f32x4(acc4, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 78) = max_f32x4(acc5, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 12) = max_f32x4(acc6, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 48) = max_f32x4(acc7, (f32x4)(0.0f));
      *(f32x4_m*)(data0 + alu3 + 84) = max_f32x4(acc8, (f32x4)(0.0f));
    }
  }
}
