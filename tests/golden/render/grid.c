__kernel void r_16_4(__global float* restrict data0, __global const float* restrict data1, uint3 where) {
  __shared_memory float shared0[4];
  int lidx0 = item(0);
  int gidx0 = group(0);
  shared0[lidx0] = data1[gidx0 * 4 + lidx0];
  wait_for_group();
  if (lidx0 < 1) {
    data0[gidx0] = shared0[0] + shared0[1];
  }
}
