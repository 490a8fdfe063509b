// opts: Opt(VECTOR, 0, 2)
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef signed char i8x2 __attribute__((ext_vector_type(2)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu0 = ridx0 * 2;
    i32x2 alu1 = (i32x2)(alu0) + (i32x2){0, 1};
    _Bool alu2 = ridx0 < 2;
    f32x2 alu3 = (f32x2){(!(ridx0 < 1) & alu2) ? data1[alu0 + (-1)] : 0.0f, alu2 ? data1[alu0] : 0.0f};
    f32x2 alu4 = (~(i32x2)(alu1 < (i32x2)(1)) & (i32x2)(alu1 < (i32x2)(4))) ? alu3 + (f32x2)(1.0f) : (f32x2)(0.0f);
    *(f32x2_m*)(data0 + alu0) = alu4;
  }
}
