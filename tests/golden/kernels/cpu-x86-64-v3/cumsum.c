// opts: Opt(VECTOR, 0, 8), Opt(UNROLL, 0, 0)
typedef long long i64x8 __attribute__((ext_vector_type(8)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void r_8_8(float* restrict data0, const float* restrict data1) {
  long long cast0 = (long long)0;
  i64x8 alu0 = __builtin_convertvector((i32x8){0, 1, 2, 3, 4, 5, 6, 7}, i64x8) + (i64x8)(1ll);
  float val0 = data1[0ll];
  f32x8 alu1 = __builtin_convertvector((i64x8)((i64x8)(cast0) < alu0), i32x8) ? (f32x8)(val0) : (f32x8)(0.0f);
  long long cast1 = (long long)1;
  float val1 = data1[1ll];
  f32x8 alu2 = __builtin_convertvector((i64x8)((i64x8)(cast1) < alu0), i32x8) ? (f32x8)(val1) : (f32x8)(0.0f);
  long long cast2 = (long long)2;
  float val2 = data1[2ll];
  f32x8 alu3 = __builtin_convertvector((i64x8)((i64x8)(cast2) < alu0), i32x8) ? (f32x8)(val2) : (f32x8)(0.0f);
  long long cast3 = (long long)3;
  float val3 = data1[3ll];
  f32x8 alu4 = __builtin_convertvector((i64x8)((i64x8)(cast3) < alu0), i32x8) ? (f32x8)(val3) : (f32x8)(0.0f);
  long long cast4 = (long long)4;
  float val4 = data1[4ll];
  f32x8 alu5 = __builtin_convertvector((i64x8)((i64x8)(cast4) < alu0), i32x8) ? (f32x8)(val4) : (f32x8)(0.0f);
  long long cast5 = (long long)5;
  float val5 = data1[5ll];
  f32x8 alu6 = __builtin_convertvector((i64x8)((i64x8)(cast5) < alu0), i32x8) ? (f32x8)(val5) : (f32x8)(0.0f);
  long long cast6 = (long long)6;
  float val6 = data1[6ll];
  f32x8 alu7 = __builtin_convertvector((i64x8)((i64x8)(cast6) < alu0), i32x8) ? (f32x8)(val6) : (f32x8)(0.0f);
  long long cast7 = (long long)7;
  float val7 = data1[7ll];
  f32x8 alu8 = __builtin_convertvector((i64x8)((i64x8)(cast7) < alu0), i32x8) ? (f32x8)(val7) : (f32x8)(0.0f);
  *(f32x8_m*)data0 = alu1 + alu2 + (alu3 + alu4) + (alu5 + alu6 + (alu7 + alu8));
}
