// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_3_8(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8);
    f32x4 alu0 = __builtin_shufflevector(val0, val0, 0, 1, 2, 3) + __builtin_shufflevector(val0, val0, 4, 5,
        6, 7);
    f32x2 alu1 = __builtin_shufflevector(alu0, alu0, 0, 1) + __builtin_shufflevector(alu0, alu0, 2, 3);
    data0[ridx0] = (alu1[0] + alu1[1]) / 8.0f;
  }
}

// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_3_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    float val0 = data2[ridx0];
    f32x8 alu0 = *(const f32x8_m*)(data1 + ridx0 * 8) - (f32x8)(val0);
    f32x8 alu1 = alu0 * alu0;
    f32x4 alu2 = __builtin_shufflevector(alu1, alu1, 0, 1, 2, 3) + __builtin_shufflevector(alu1, alu1, 4, 5,
        6, 7);
    f32x2 alu3 = __builtin_shufflevector(alu2, alu2, 0, 1) + __builtin_shufflevector(alu2, alu2, 2, 3);
    data0[ridx0] = 1.0f / __builtin_sqrtf((alu3[0] + alu3[1]) / 8.0f + 1.0e-5f);
  }
}

// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void E_3_8(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu0 = ridx0 * 8;
    float val0 = data2[ridx0];
    float val1 = data3[ridx0];
    *(f32x8_m*)(data0 + alu0) = (*(const f32x8_m*)(data1 + alu0) - (f32x8)(val0)) * (f32x8)(val1);
  }
}
