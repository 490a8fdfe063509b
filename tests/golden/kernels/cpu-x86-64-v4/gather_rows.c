// opts: Opt(VECTOR, 0, 2)
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef i32x2 i32x2_m __attribute__((aligned(4), may_alias));
void E_2_2(int* restrict data0, const int* restrict data1) {
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 2;
    int alu1 = (alu0 < 1) ? alu0 : 1;
    i32x2 val0 = *(const i32x2_m*)(data1 + alu1);
    *(i32x2_m*)(data0 + alu1) = (i32x2)(val0 < (i32x2)(0)) ? val0 + (i32x2)(5) : val0;
  }
}

// opts: Opt(VECTOR, 1, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef unsigned char u8x4 __attribute__((ext_vector_type(4)));
typedef u8x4 u8x4_m __attribute__((aligned(1), may_alias));
void E_3_2_4(unsigned char* restrict data0, const int* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int val0 = data1[ridx0];
    i32x4 alu0 = (i32x4)(val0);
    int alu1 = ridx0 * 5;
    for (int ridx1 = 0; ridx1 < 2; ridx1++) {
      int alu2 = ridx1 * 4;
      int alu3 = (alu2 < 1) ? alu2 : 1;
      *(u8x4_m*)(data0 + alu1 + alu3) = __builtin_convertvector((i32x4)(alu0 == (i32x4)(alu3) + (i32x4){0, 1,
          2, 3}), u8x4) & (u8x4)(1);
    }
  }
}

// opts: Opt(VECTOR, 1, 4), Opt(UPCAST, 0, 3), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void r_3_5_4(float* restrict data0, const unsigned char* restrict data1, const float* restrict data2) {
  f32x4 val0 = *(const f32x4_m*)data2;
  f32x4 val1 = *(const f32x4_m*)(data2 + 8);
  f32x4 alu0 = ((data1[0] != 0) ? val0 : (f32x4)(0.0f)) + ((data1[2] != 0) ? val1 : (f32x4)(0.0f));
  f32x4 val2 = *(const f32x4_m*)(data2 + 16);
  f32x4 val3 = *(const f32x4_m*)(data2 + 4);
  f32x4 val4 = *(const f32x4_m*)(data2 + 12);
  f32x4 alu1 = ((data1[1] != 0) ? val3 : (f32x4)(0.0f)) + ((data1[3] != 0) ? val4 : (f32x4)(0.0f));
  _Bool val5 = data1[5] != 0;
  _Bool val6 = data1[7] != 0;
  _Bool val7 = data1[9] != 0;
  f32x4 alu2 = (val5 ? val0 : (f32x4)(0.0f)) + (val6 ? val1 : (f32x4)(0.0f)) + (val7 ? val2 : (f32x4)(0.0f));
  _Bool val8 = data1[6] != 0;
  _Bool val9 = data1[8] != 0;
  _Bool val10 = data1[10] != 0;
  _Bool val11 = data1[12] != 0;
  _Bool val12 = data1[14] != 0;
  f32x4 alu3 = (val10 ? val0 : (f32x4)(0.0f)) + (val11 ? val1 : (f32x4)(0.0f)) + (val12 ? val2 : (f32x4)(0.0f));
  _Bool val13 = data1[11] != 0;
  _Bool val14 = data1[13] != 0;
  *(f32x4_m*)data0 = alu0 + ((data1[4] != 0) ? val2 : (f32x4)(0.0f)) + alu1;
  *(f32x4_m*)(data0 + 4) = alu2 + ((val8 ? val3 : (f32x4)(0.0f)) + (val9 ? val4 : (f32x4)(0.0f)));
  *(f32x4_m*)(data0 + 8) = alu3 + ((val13 ? val3 : (f32x4)(0.0f)) + (val14 ? val4 : (f32x4)(0.0f)));
}
