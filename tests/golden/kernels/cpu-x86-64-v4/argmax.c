// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_3_8(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8);
    f32x4 alu0 = max_f32x4(__builtin_shufflevector(val0, val0, 0, 1, 2, 3), __builtin_shufflevector(val0,
        val0, 4, 5, 6, 7));
    f32x2 alu1 = max_f32x2(__builtin_shufflevector(alu0, alu0, 0, 1), __builtin_shufflevector(alu0, alu0, 2,
        3));
    data0[ridx0] = max_f32(alu1[0], alu1[1]);
  }
}

// opts: Opt(VECTOR, 1, 8)
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
static inline i32x4 max_i32x4(i32x4 a, i32x4 b) {
  return a < b ? b : a;
}
static inline i32x2 max_i32x2(i32x2 a, i32x2 b) {
  return a < b ? b : a;
}
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
void r_3_8(int* restrict data0, const float* restrict data1, const float* restrict data2) {
  i32x8 alu0 = (i32x8){0, 1, 2, 3, 4, 5, 6, 7} * (i32x8)(-1) + (i32x8)(8);
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8);
    float val1 = data2[ridx0];
    i32x8 alu1 = ((i32x8)(val0 == (f32x8)(val1)) | (i32x8)(val0 != val0)) ? alu0 : (i32x8)(0);
    i32x4 alu2 = max_i32x4(__builtin_shufflevector(alu1, alu1, 0, 1, 2, 3), __builtin_shufflevector(alu1,
        alu1, 4, 5, 6, 7));
    i32x2 alu3 = max_i32x2(__builtin_shufflevector(alu2, alu2, 0, 1), __builtin_shufflevector(alu2, alu2, 2,
        3));
    data0[ridx0] = 8 - max_i32(alu3[0], alu3[1]);
  }
}
