// opts: Opt(VECTOR, 0, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef i32x4 i32x4_m __attribute__((aligned(4), may_alias));
void E_4(int* restrict data0) {
  *(i32x4_m*)data0 = (i32x4)(3);
}
