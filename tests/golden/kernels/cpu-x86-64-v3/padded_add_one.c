// opts: Opt(VECTOR, 0, 2)
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef long long i64x2 __attribute__((ext_vector_type(2)));
typedef signed char i8x2 __attribute__((ext_vector_type(2)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(float* restrict data0, const float* restrict data1) {
  i64x2 cast0 = __builtin_convertvector((i32x2){0, 1}, i64x2);
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 2ll;
    i64x2 alu1 = (i64x2)(alu0) + cast0;
    _Bool alu2 = ridx0 < 2ll;
    f32x2 alu3 = (f32x2){(!(ridx0 < 1ll) & alu2) ? data1[alu0 + (-1ll)] : 0.0f, alu2 ? data1[alu0] : 0.0f};
    f32x2 alu4 = __builtin_convertvector(~(i64x2)(alu1 < (i64x2)(1ll)) & (i64x2)(alu1 < (i64x2)(4ll)),
        i32x2) ? alu3 + (f32x2)(1.0f) : (f32x2)(0.0f);
    *(f32x2_m*)(data0 + alu0) = alu4;
  }
}
