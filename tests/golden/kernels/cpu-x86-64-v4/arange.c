// opts: Opt(VECTOR, 0, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef i32x4 i32x4_m __attribute__((aligned(4), may_alias));
void E_2_4(int* restrict data0) {
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 4;
    int alu1 = (alu0 < 2) ? alu0 : 2;
    *(i32x4_m*)(data0 + alu1) = ((i32x4)(alu1) + (i32x4){0, 1, 2, 3}) * (i32x4)(2);
  }
}
