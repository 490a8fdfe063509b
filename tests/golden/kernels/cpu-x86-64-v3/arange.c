// opts: Opt(VECTOR, 0, 2)
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef i32x2 i32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(int* restrict data0) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu0 = ridx0 * 2;
    *(i32x2_m*)(data0 + alu0) = ((i32x2)(alu0) + (i32x2){0, 1}) * (i32x2)(2);
  }
}
