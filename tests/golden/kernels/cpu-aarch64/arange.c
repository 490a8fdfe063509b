// opts: Opt(VECTOR, 0, 2)
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef long long i64x2 __attribute__((ext_vector_type(2)));
typedef i32x2 i32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(int* restrict data0) {
  i64x2 cast0 = __builtin_convertvector((i32x2){0, 1}, i64x2);
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 2ll;
    *(i32x2_m*)(data0 + alu0) = __builtin_convertvector((i64x2)(alu0) + cast0, i32x2) * (i32x2)(2);
  }
}
