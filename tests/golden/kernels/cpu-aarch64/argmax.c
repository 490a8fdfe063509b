// opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(UNROLL, 2, 0), Opt(UNROLL, 1, 0)
typedef long long i64x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
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
void r_3_2_2_4_4(int* restrict data0, const float* restrict data1) {
  i64x4 cast0 = __builtin_convertvector((i32x4){0, 1, 2, 3}, i64x4);
  i32x4 alu0 = __builtin_convertvector((i64x4)(0ll) + cast0, i32x4) ^ (i32x4)(-1);
  i32x4 alu1 = __builtin_convertvector((i64x4)(4ll) + cast0, i32x4) ^ (i32x4)(-1);
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu2 = ridx0 * 8ll;
    f32x4 val0 = *(const f32x4_m*)(data1 + alu2);
    f32x4 val1 = *(const f32x4_m*)(data1 + alu2 + 4ll);
    f32x4 alu3 = max_f32x4(val0, val1);
    f32x2 alu4 = max_f32x2(__builtin_shufflevector(alu3, alu3, 0, 1), __builtin_shufflevector(alu3, alu3, 2,
        3));
    float alu5 = max_f32(alu4[0], alu4[1]);
    f32x4 alu6 = (f32x4)(alu5);
    i32x4 alu7 = ((i32x4)(val0 == alu6) | (i32x4)(val0 != val0)) ? alu0 : (i32x4)(-2147483647 - 1);
    i32x4 alu8 = ((i32x4)(val1 == alu6) | (i32x4)(val1 != val1)) ? alu1 : (i32x4)(-2147483647 - 1);
    i32x4 alu9 = max_i32x4(alu7, alu8);
    i32x2 alu10 = max_i32x2(__builtin_shufflevector(alu9, alu9, 0, 1), __builtin_shufflevector(alu9, alu9, 2,
        3));
    data0[ridx0] = max_i32(alu10[0], alu10[1]) ^ (-1);
  }
}
