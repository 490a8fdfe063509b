// opts: Opt(VECTOR, 1, 2), Opt(UNROLL, 1, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
typedef int i32x2 __attribute__((ext_vector_type(2)));
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_4_3_2(float* restrict data0, float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  f32x2 val0 = *(const f32x2_m*)data3;
  f32x2 val1 = *(const f32x2_m*)(data3 + 2ll);
  f32x2 val2 = *(const f32x2_m*)(data3 + 4ll);
  for (long long ridx0 = 0; ridx0 < 4ll; ridx0++) {
    long long alu0 = ridx0 * 3ll;
    float val3 = data2[alu0];
    float val4 = data2[alu0 + 1ll];
    float val5 = data2[alu0 + 2ll];
    f32x2 alu1 = (f32x2)(val3) * val0 + (f32x2)(val4) * val1 + (f32x2)(val5) * val2;
    f32x2 alu2 = max_f32x2(alu1, (f32x2)(0.0f));
    long long alu3 = ridx0 * 2ll;
    f32x2 alu4 = (f32x2)(0.125f) * alu2;
    *(f32x2_m*)(data0 + alu3) = alu2;
    *(f32x2_m*)(data1 + alu3) = (i32x2)((f32x2)(0.0f) < alu2) ? alu4 + alu4 : (f32x2)(0.0f);
  }
}

// opts: Opt(VECTOR, 0, 4), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_2_4(float* restrict data0, const float* restrict data1) {
  f32x4 val0 = *(const f32x4_m*)data1;
  f32x4 val1 = *(const f32x4_m*)(data1 + 4ll);
  f32x4 alu0 = val0 * val0 + val1 * val1;
  f32x2 alu1 = __builtin_shufflevector(alu0, alu0, 0, 1) + __builtin_shufflevector(alu0, alu0, 2, 3);
  data0[0ll] = (alu1[0] + alu1[1]) / 8.0f;
}

// opts: Opt(VECTOR, 1, 2), Opt(UPCAST, 0, 2), Opt(UPCAST, 0, 2), Opt(UNROLL, 0, 0)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void r_2_2_4_2(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  float val0 = data1[4ll];
  f32x2 alu0 = (f32x2)(val0);
  f32x2 val1 = *(const f32x2_m*)(data2 + 6ll);
  float val2 = data1[0ll];
  f32x2 alu1 = (f32x2)(val2);
  f32x2 val3 = *(const f32x2_m*)data2;
  float val4 = data1[6ll];
  f32x2 alu2 = (f32x2)(val4);
  f32x2 val5 = *(const f32x2_m*)(data2 + 9ll);
  float val6 = data1[2ll];
  f32x2 alu3 = (f32x2)(val6);
  f32x2 val7 = *(const f32x2_m*)(data2 + 3ll);
  f32x2 alu4 = __builtin_elementwise_fma(alu0, val1, alu1 * val3) + __builtin_elementwise_fma(alu2, val5,
      alu3 * val7);
  float val8 = data1[5ll];
  f32x2 alu5 = (f32x2)(val8);
  float val9 = data1[1ll];
  f32x2 alu6 = (f32x2)(val9);
  float val10 = data1[7ll];
  f32x2 alu7 = (f32x2)(val10);
  float val11 = data1[3ll];
  f32x2 alu8 = (f32x2)(val11);
  f32x2 alu9 = __builtin_elementwise_fma(alu5, val1, alu6 * val3) + __builtin_elementwise_fma(alu7, val5,
      alu8 * val7);
  f32x2 val12 = *(const f32x2_m*)(data2 + 7ll);
  f32x2 val13 = *(const f32x2_m*)(data2 + 1ll);
  f32x2 val14 = *(const f32x2_m*)(data2 + 10ll);
  f32x2 val15 = *(const f32x2_m*)(data2 + 4ll);
  f32x2 alu10 = __builtin_elementwise_fma(alu0, val12, alu1 * val13) + __builtin_elementwise_fma(alu2, val14,
      alu3 * val15);
  f32x2 alu11 = __builtin_elementwise_fma(alu5, val12, alu6 * val13) + __builtin_elementwise_fma(alu7, val14,
      alu8 * val15);
  *(f32x2_m*)data0 = alu4;
  *(f32x2_m*)(data0 + 3ll) = alu9;
  *(f32x2_m*)(data0 + 1ll) = alu10;
  *(f32x2_m*)(data0 + 4ll) = alu11;
}

// opts: Opt(VECTOR, 1, 2)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    f32x2 alu0 = *(const f32x2_m*)(data0 + ridx0 * 2ll) - (f32x2){data1[ridx0],
        data1[ridx0 + 3ll]} * (f32x2)(0.1f);
    *(f32x2_m*)(data0 + ridx0 * 2ll) = alu0;
  }
}
