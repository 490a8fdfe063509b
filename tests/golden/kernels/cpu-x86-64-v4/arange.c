// opts: Opt(VECTOR, 0, 4)
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef long long i64x4 __attribute__((ext_vector_type(4)));
typedef i32x4 i32x4_m __attribute__((aligned(4), may_alias));
void E_2_4(int* restrict data0) {
  i64x4 cast0 = __builtin_convertvector((i32x4){0, 1, 2, 3}, i64x4);
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 4ll : 2ll;
    *(i32x4_m*)(data0 + alu0) = __builtin_convertvector((i64x4)(alu0) + cast0, i32x4) * (i32x4)(2);
  }
}
