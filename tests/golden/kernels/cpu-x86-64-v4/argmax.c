// opts: Opt(VECTOR, 2, 8), Opt(VECTOR, 1, 8)
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
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
static inline i32x4 max_i32x4(i32x4 a, i32x4 b) {
  return a < b ? b : a;
}
static inline i32x2 max_i32x2(i32x2 a, i32x2 b) {
  return a < b ? b : a;
}
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
void r_3_8_8(int* restrict data0, const float* restrict data1) {
  i32x8 alu0 = (i32x8){0, 1, 2, 3, 4, 5, 6, 7} ^ (i32x8)(-1);
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8ll);
    f32x4 alu1 = max_f32x4(__builtin_shufflevector(val0, val0, 0, 1, 2, 3), __builtin_shufflevector(val0,
        val0, 4, 5, 6, 7));
    f32x2 alu2 = max_f32x2(__builtin_shufflevector(alu1, alu1, 0, 1), __builtin_shufflevector(alu1, alu1, 2,
        3));
    float alu3 = max_f32(alu2[0], alu2[1]);
    i32x8 alu4 = ((i32x8)(val0 == (f32x8)(alu3)) | (i32x8)(val0 != val0)) ? alu0 : (i32x8)(-2147483647 - 1);
    i32x4 alu5 = max_i32x4(__builtin_shufflevector(alu4, alu4, 0, 1, 2, 3), __builtin_shufflevector(alu4,
        alu4, 4, 5, 6, 7));
    i32x2 alu6 = max_i32x2(__builtin_shufflevector(alu5, alu5, 0, 1), __builtin_shufflevector(alu5, alu5, 2,
        3));
    data0[ridx0] = max_i32(alu6[0], alu6[1]) ^ (-1);
  }
}
