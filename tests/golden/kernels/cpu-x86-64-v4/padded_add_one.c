// opts: Opt(VECTOR, 0, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef long long i64x4 __attribute__((ext_vector_type(4)));
typedef signed char i8x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void E_2_4(float* restrict data0, const float* restrict data1) {
  i64x4 cast0 = __builtin_convertvector((i32x4){0, 1, 2, 3}, i64x4);
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = ridx0 * 4ll;
    long long alu1 = (alu0 < 2ll) ? alu0 : 2ll;
    i64x4 alu2 = (i64x4)(alu1) + cast0;
    long long alu3 = (ridx0 < 1ll) ? alu0 : 2ll;
    _Bool alu4 = alu3 < 1ll;
    f32x4 alu5 = (f32x4){(alu3 < 4ll & !alu4) ? data1[alu1 + (-1ll)] : 0.0f,
        (alu3 < 3ll) ? data1[alu1] : 0.0f, (alu3 < 2ll) ? data1[alu1 + 1ll] : 0.0f,
        alu4 ? data1[alu1 + 2ll] : 0.0f};
    f32x4 alu6 = __builtin_convertvector(~(i64x4)(alu2 < (i64x4)(1ll)) & (i64x4)(alu2 < (i64x4)(4ll)),
        i32x4) ? alu5 + (f32x4)(1.0f) : (f32x4)(0.0f);
    *(f32x4_m*)(data0 + alu1) = alu6;
  }
}
