// grid None, block (4, 3, 1); opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
extern "C" __global__ void __launch_bounds__(12) E_3_4(float* __restrict__ data0,
    const int* __restrict__ data1, const float* __restrict__ data2) {
  int lidx0 = threadIdx.x;
  int lidx1 = threadIdx.y;
  int val0 = data1[lidx1];
  int alu0 = (val0 < 0) ? (int)((unsigned int)val0 + 5u) : val0;
  data0[lidx1 * 4 + lidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[(int)((unsigned int)lidx0 + (unsigned int)alu0 * 4u)] : 0.0f;
}
