// grid None, block (64, 1, 1); opts: Opt(LOCAL, 0, 64)
extern "C" __global__ void __launch_bounds__(64) E_64(signed char* __restrict__ data0,
    const int* __restrict__ data1, const int* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  int val0 = data1[lidx0];
  int alu0 = data2[lidx0] % 5;
  data0[lidx0] = (signed char)(val0 / 7 - (int)(val0 % 7 < 0) + (alu0 + ((alu0 < 0) ? 5 : 0)));
}
