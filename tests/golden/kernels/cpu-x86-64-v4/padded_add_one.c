// opts: Opt(VECTOR, 0, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef signed char i8x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void E_2_4(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 4;
    int alu1 = (alu0 < 2) ? alu0 : 2;
    i32x4 alu2 = (i32x4)(alu1) + (i32x4){0, 1, 2, 3};
    int alu3 = (ridx0 < 1) ? alu0 : 2;
    _Bool alu4 = alu3 < 1;
    f32x4 alu5 = (f32x4){(alu3 < 4 & !alu4) ? data1[alu1 + (-1)] : 0.0f, (alu3 < 3) ? data1[alu1] : 0.0f,
        (alu3 < 2) ? data1[alu1 + 1] : 0.0f, alu4 ? data1[alu1 + 2] : 0.0f};
    f32x4 alu6 = (~(i32x4)(alu2 < (i32x4)(1)) & (i32x4)(alu2 < (i32x4)(4))) ? alu5 + (f32x4)(1.0f) : (f32x4)(0.0f);
    *(f32x4_m*)(data0 + alu1) = alu6;
  }
}
