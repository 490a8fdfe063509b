typedef unsigned char u8x16 __attribute__((ext_vector_type(16)));
typedef u8x16 u8x16_m __attribute__((aligned(1), may_alias));
typedef signed char i8x16 __attribute__((ext_vector_type(16)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef f32x16 f32x16_m __attribute__((aligned(4), may_alias));
typedef int i32x16 __attribute__((ext_vector_type(16)));
static inline f32x16 max_f32x16(f32x16 a, f32x16 b) {
  f32x16 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void E_4_16(float* restrict data0, const float* restrict data1, const unsigned char* restrict data2,
    unsigned char* restrict data3) {
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    int alu0 = ridx0 * 16;
    f32x16 val0 = *(const f32x16_m*)(data1 + alu0);
    i32x16 alu1 = (i32x16)(val0 < (f32x16)(1.0f));
    i8x16 alu2 = (i8x16)(*(const u8x16_m*)(data2 + alu0) != (u8x16)(0)) & __builtin_convertvector(alu1,
        i8x16);
    f32x16 alu3 = __builtin_convertvector(alu2, i32x16) ? val0 * val0 : (f32x16)(0.0f);
    *(f32x16_m*)(data0 + alu0) = max_f32x16(alu3, (f32x16)(0.25f));
    *(u8x16_m*)(data3 + alu0) = __builtin_convertvector(alu1, u8x16) & (u8x16)(1);
  }
}
