// opts: Opt(VECTOR, 2, 4), Opt(UPCAST, 0, 3), Opt(UPCAST, 0, 3), Opt(UPCAST, 1, 2)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_2_3_3_2_3_3_4(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  f32x4 acc0;
  f32x4 acc1;
  f32x4 acc2;
  f32x4 acc3;
  f32x4 acc4;
  f32x4 acc5;
  f32x4 acc6;
  f32x4 acc7;
  f32x4 acc8;
  f32x4 acc9;
  f32x4 acc10;
  f32x4 acc11;
  f32x4 acc12;
  f32x4 acc13;
  f32x4 acc14;
  f32x4 acc15;
  f32x4 acc16;
  f32x4 acc17;
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    acc0 = (f32x4)(0.0f);
    int alu0 = ridx0 * 18;
    int alu1 = ridx0 * 3;
    acc1 = (f32x4)(0.0f);
    acc2 = (f32x4)(0.0f);
    acc3 = (f32x4)(0.0f);
    acc4 = (f32x4)(0.0f);
    acc5 = (f32x4)(0.0f);
    acc6 = (f32x4)(0.0f);
    acc7 = (f32x4)(0.0f);
    acc8 = (f32x4)(0.0f);
    acc9 = (f32x4)(0.0f);
    acc10 = (f32x4)(0.0f);
    acc11 = (f32x4)(0.0f);
    acc12 = (f32x4)(0.0f);
    acc13 = (f32x4)(0.0f);
    acc14 = (f32x4)(0.0f);
    acc15 = (f32x4)(0.0f);
    acc16 = (f32x4)(0.0f);
    acc17 = (f32x4)(0.0f);
    for (int ridx1 = 0; ridx1 < 2; ridx1++) {
      int alu2 = alu0 + ridx1 * 36;
      int alu3 = ridx1 * 9;
      for (int ridx2 = 0; ridx2 < 3; ridx2++) {
        int alu4 = alu2 + ridx2 * 6;
        int alu5 = alu1 + ridx2;
        _Bool alu6 = !(alu5 < 1);
        int alu7 = alu3 + ridx2 * 3;
        _Bool alu8 = alu5 < 5;
        for (int ridx3 = 0; ridx3 < 3; ridx3++) {
          int alu9 = alu4 + ridx3;
          _Bool alu10 = !(ridx3 < 1);
          float val0 = alu6 ? data1[alu9 + (-5)] : 0.0f;
          float val1 = alu6 ? data1[alu9 + (-4)] : 0.0f;
          f32x4 alu11 = (f32x4){(alu6 & alu10) ? data1[alu9 + (-7)] : 0.0f, alu6 ? data1[alu9 + (-6)] : 0.0f,
              val0, val1};
          int alu12 = alu7 + ridx3;
          float val2 = data2[alu12];
          f32x4 alu13 = (f32x4)(val2);
          acc0 = __builtin_elementwise_fma(alu11, alu13, acc0);
          float val3 = data2[alu12 + 18];
          f32x4 alu14 = (f32x4)(val3);
          acc1 = __builtin_elementwise_fma(alu11, alu14, acc1);
          float val4 = data2[alu12 + 36];
          f32x4 alu15 = (f32x4)(val4);
          acc2 = __builtin_elementwise_fma(alu11, alu15, acc2);
          float val5 = data1[alu9 + 1];
          float val6 = data1[alu9 + 2];
          f32x4 alu16 = (f32x4){alu10 ? data1[alu9 + (-1)] : 0.0f, data1[alu9], val5, val6};
          acc3 = __builtin_elementwise_fma(alu16, alu13, acc3);
          acc4 = __builtin_elementwise_fma(alu16, alu14, acc4);
          acc5 = __builtin_elementwise_fma(alu16, alu15, acc5);
          float val7 = alu8 ? data1[alu9 + 7] : 0.0f;
          float val8 = alu8 ? data1[alu9 + 8] : 0.0f;
          f32x4 alu17 = (f32x4){(alu8 & alu10) ? data1[alu9 + 5] : 0.0f, alu8 ? data1[alu9 + 6] : 0.0f, val7,
              val8};
          acc6 = __builtin_elementwise_fma(alu17, alu13, acc6);
          acc7 = __builtin_elementwise_fma(alu17, alu14, acc7);
          acc8 = __builtin_elementwise_fma(alu17, alu15, acc8);
          _Bool alu18 = ridx3 < 2;
          f32x4 alu19 = (f32x4){val0, val1, alu6 ? data1[alu9 + (-3)] : 0.0f,
              (alu6 & alu18) ? data1[alu9 + (-2)] : 0.0f};
          acc9 = __builtin_elementwise_fma(alu19, alu13, acc9);
          acc10 = __builtin_elementwise_fma(alu19, alu14, acc10);
          acc11 = __builtin_elementwise_fma(alu19, alu15, acc11);
          f32x4 alu20 = (f32x4){val5, val6, data1[alu9 + 3], alu18 ? data1[alu9 + 4] : 0.0f};
          acc12 = __builtin_elementwise_fma(alu20, alu13, acc12);
          acc13 = __builtin_elementwise_fma(alu20, alu14, acc13);
          acc14 = __builtin_elementwise_fma(alu20, alu15, acc14);
          f32x4 alu21 = (f32x4){val7, val8, alu8 ? data1[alu9 + 9] : 0.0f,
              (alu8 & alu18) ? data1[alu9 + 10] : 0.0f};
          acc15 = __builtin_elementwise_fma(alu21, alu13, acc15);
          acc16 = __builtin_elementwise_fma(alu21, alu14, acc16);
          acc17 = __builtin_elementwise_fma(alu21, alu15, acc17);
        }
      }
    }
    *(f32x4_m*)(data0 + alu0) = max_f32x4(acc0, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 36) = max_f32x4(acc1, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 72) = max_f32x4(acc2, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 6) = max_f32x4(acc3, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 42) = max_f32x4(acc4, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 78) = max_f32x4(acc5, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 12) = max_f32x4(acc6, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 48) = max_f32x4(acc7, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 84) = max_f32x4(acc8, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 2) = max_f32x4(acc9, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 38) = max_f32x4(acc10, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 74) = max_f32x4(acc11, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 8) = max_f32x4(acc12, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 44) = max_f32x4(acc13, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 80) = max_f32x4(acc14, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 14) = max_f32x4(acc15, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 50) = max_f32x4(acc16, (f32x4)(0.0f));
    *(f32x4_m*)(data0 + alu0 + 86) = max_f32x4(acc17, (f32x4)(0.0f));
  }
}
