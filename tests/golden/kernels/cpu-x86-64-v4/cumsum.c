// opts: Opt(VECTOR, 0, 8), Opt(UNROLL, 0, 0)
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void r_8_8(float* restrict data0, const float* restrict data1) {
  i32x8 alu0 = (i32x8){0, 1, 2, 3, 4, 5, 6, 7} + (i32x8)(1);
  float val0 = data1[0ll];
  float val1 = data1[1ll];
  f32x8 alu1 = ((i32x8)((i32x8)(0) < alu0) ? (f32x8)(val0) : (f32x8)(0.0f)) + ((i32x8)((i32x8)(1) < alu0) ? (f32x8)(val1) : (f32x8)(0.0f));
  float val2 = data1[2ll];
  float val3 = data1[3ll];
  f32x8 alu2 = ((i32x8)((i32x8)(2) < alu0) ? (f32x8)(val2) : (f32x8)(0.0f)) + ((i32x8)((i32x8)(3) < alu0) ? (f32x8)(val3) : (f32x8)(0.0f));
  float val4 = data1[4ll];
  float val5 = data1[5ll];
  f32x8 alu3 = ((i32x8)((i32x8)(4) < alu0) ? (f32x8)(val4) : (f32x8)(0.0f)) + ((i32x8)((i32x8)(5) < alu0) ? (f32x8)(val5) : (f32x8)(0.0f));
  float val6 = data1[6ll];
  float val7 = data1[7ll];
  f32x8 alu4 = ((i32x8)((i32x8)(6) < alu0) ? (f32x8)(val6) : (f32x8)(0.0f)) + ((i32x8)((i32x8)(7) < alu0) ? (f32x8)(val7) : (f32x8)(0.0f));
  *(f32x8_m*)data0 = alu1 + alu2 + (alu3 + alu4);
}
