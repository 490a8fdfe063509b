// opts: Opt(VECTOR, 0, 2), Opt(UPCAST, 2, 6), Opt(UNROLL, 4, 0), Opt(PACK, 1, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_6_2_3_6_3_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  float row0[36] __attribute__((aligned(64)));
  f32x2 acc1;
  f32x2 acc2;
  f32x2 acc3;
  f32x2 acc4;
  f32x2 acc5;
  f32x2 acc6;
  static const float zeros_float[64] = {0};
  #pragma clang loop unroll(disable)
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 2ll : 1ll;
    long long alu1 = alu0 * 18ll;
    for (long long ridx8 = 0; ridx8 < 2ll; ridx8++) {
      long long alu2 = alu1 + ridx8 * 9ll;
      long long alu3 = ridx8 * 18ll;
      for (long long ridx9 = 0; ridx9 < 3ll; ridx9++) {
        long long alu4 = alu2 + ridx9 * 3ll;
        long long alu5 = alu3 + ridx9 * 6ll;
        for (long long ridx10 = 0; ridx10 < 3ll; ridx10++) {
          long long alu6 = alu4 + ridx10;
          *(f32x2_m*)(row0 + alu5 + ridx10 * 2ll) = (f32x2){data2[alu6], data2[alu6 + 18ll]};
        }
      }
    }
    long long alu7 = alu0 * 36ll;
    #pragma clang loop unroll(disable)
    for (long long ridx1 = 0; ridx1 < 6ll; ridx1++) {
      acc1 = (f32x2)(0.0f);
      long long alu8 = ridx1 * 6ll;
      acc2 = (f32x2)(0.0f);
      acc3 = (f32x2)(0.0f);
      acc4 = (f32x2)(0.0f);
      acc5 = (f32x2)(0.0f);
      acc6 = (f32x2)(0.0f);
      #pragma clang loop unroll(disable)
      for (long long ridx2 = 0; ridx2 < 2ll; ridx2++) {
        long long alu9 = alu8 + ridx2 * 36ll;
        long long alu10 = ridx2 * 18ll;
        for (long long ridx3 = 0; ridx3 < 3ll; ridx3++) {
          long long alu11 = ridx3 * 6ll;
          long long alu12 = alu9 + alu11;
          long long alu13 = ridx1 + ridx3;
          _Bool alu14 = alu13 < 7ll & !(alu13 < 1ll);
          const float* place0 = ((alu13 < 7ll) & !(alu13 < 1ll)) ? data1 + (alu12 + (-5)) : zeros_float + 1;
          float val0 = place0[0];
          f32x2 alu15 = (f32x2)(val0);
          long long alu16 = alu10 + alu11;
          f32x2 val1 = *(f32x2_m*)(row0 + alu16 + 4ll);
          float val2 = place0[-1];
          f32x2 alu17 = (f32x2)(val2);
          f32x2 val3 = *(f32x2_m*)(row0 + alu16 + 2ll);
          f32x2 val4 = *(f32x2_m*)(row0 + alu16);
          f32x2 alu18 = __builtin_elementwise_fma(alu17, val3, __builtin_elementwise_fma((f32x2)(0.0f), val4,
              acc1));
          acc1 = __builtin_elementwise_fma(alu15, val1, alu18);
          float val5 = place0[1];
          f32x2 alu19 = (f32x2)(val5);
          f32x2 alu20 = __builtin_elementwise_fma(alu15, val3, __builtin_elementwise_fma(alu17, val4, acc2));
          acc2 = __builtin_elementwise_fma(alu19, val1, alu20);
          float val6 = place0[2];
          f32x2 alu21 = (f32x2)(val6);
          f32x2 alu22 = __builtin_elementwise_fma(alu19, val3, __builtin_elementwise_fma(alu15, val4, acc3));
          acc3 = __builtin_elementwise_fma(alu21, val1, alu22);
          float val7 = place0[3];
          f32x2 alu23 = (f32x2)(val7);
          f32x2 alu24 = __builtin_elementwise_fma(alu21, val3, __builtin_elementwise_fma(alu19, val4, acc4));
          acc4 = __builtin_elementwise_fma(alu23, val1, alu24);
          float val8 = place0[4];
          f32x2 alu25 = (f32x2)(val8);
          f32x2 alu26 = __builtin_elementwise_fma(alu23, val3, __builtin_elementwise_fma(alu21, val4, acc5));
          acc5 = __builtin_elementwise_fma(alu25, val1, alu26);
          f32x2 alu27 = __builtin_elementwise_fma(alu25, val3, __builtin_elementwise_fma(alu23, val4, acc6));
          acc6 = __builtin_elementwise_fma((f32x2)(0.0f), val1, alu27);
        }
      }
      f32x2 alu28 = max_f32x2(acc1, (f32x2)(0.0f));
      f32x2 alu29 = max_f32x2(acc2, (f32x2)(0.0f));
      long long alu30 = alu7 + alu8;
      f32x2 alu31 = max_f32x2(acc3, (f32x2)(0.0f));
      f32x2 alu32 = max_f32x2(acc4, (f32x2)(0.0f));
      f32x2 alu33 = max_f32x2(acc5, (f32x2)(0.0f));
      f32x2 alu34 = max_f32x2(acc6, (f32x2)(0.0f));
      *(f32x2_m*)(data0 + alu30) = __builtin_shufflevector(alu28, alu29, 0, 2);
      *(f32x2_m*)(data0 + alu30 + 36ll) = __builtin_shufflevector(alu28, alu29, 1, 3);
      *(f32x2_m*)(data0 + alu30 + 2ll) = __builtin_shufflevector(alu31, alu32, 0, 2);
      *(f32x2_m*)(data0 + alu30 + 38ll) = __builtin_shufflevector(alu31, alu32, 1, 3);
      *(f32x2_m*)(data0 + alu30 + 4ll) = __builtin_shufflevector(alu33, alu34, 0, 2);
      *(f32x2_m*)(data0 + alu30 + 40ll) = __builtin_shufflevector(alu33, alu34, 1, 3);
    }
  }
}
