// What pycuda's extension names and no test of ours calls: it cannot be loaded without them. Each says
// that it is not supported.
#pragma once
#define SIMT_ABSENT(X) \
  X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor_v2) X(cuArrayCreate_v2) X(cuArrayDestroy) \
  X(cuArrayGetDescriptor_v2) X(cuCtxAttach) X(cuCtxCreate_v4) X(cuCtxDetach) \
  X(cuCtxDisablePeerAccess) X(cuCtxGetApiVersion) X(cuCtxGetCacheConfig) X(cuCtxGetLimit) \
  X(cuCtxGetSharedMemConfig) X(cuCtxSetCacheConfig) X(cuCtxSetLimit) X(cuCtxSetSharedMemConfig) \
  X(cuDeviceGetByPCIBusId) X(cuDeviceGetPCIBusId) X(cuFuncSetBlockShape) X(cuFuncSetCacheConfig) \
  X(cuFuncSetSharedSize) X(cuIpcCloseMemHandle) X(cuIpcGetEventHandle) X(cuIpcGetMemHandle) \
  X(cuIpcOpenEventHandle) X(cuIpcOpenMemHandle_v2) X(cuLaunch) X(cuLaunchGrid) \
  X(cuLaunchGridAsync) X(cuLinkAddData_v2) X(cuLinkAddFile_v2) X(cuLinkComplete) \
  X(cuLinkCreate_v2) X(cuLinkDestroy) X(cuMemAllocManaged) X(cuMemAllocPitch_v2) \
  X(cuMemGetAddressRange_v2) X(cuMemHostGetDevicePointer_v2) X(cuMemHostGetFlags) \
  X(cuMemHostRegister_v2) X(cuMemHostUnregister) X(cuMemcpy2DAsync_v2) X(cuMemcpy2DUnaligned_v2) \
  X(cuMemcpy2D_v2) X(cuMemcpy3DAsync_v2) X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync) \
  X(cuMemcpy3D_v2) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoD_v2) X(cuMemcpyAtoH_v2) X(cuMemcpyDtoA_v2) \
  X(cuMemcpyDtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyHtoA_v2) X(cuMemcpyHtoD_v2) X(cuMemcpyPeer) \
  X(cuMemsetD16Async) X(cuMemsetD16_v2) X(cuMemsetD2D16Async) X(cuMemsetD2D16_v2) \
  X(cuMemsetD2D32Async) X(cuMemsetD2D32_v2) X(cuMemsetD2D8Async) X(cuMemsetD2D8_v2) \
  X(cuMemsetD32Async) X(cuMemsetD32_v2) X(cuMemsetD8Async) X(cuMemsetD8_v2) \
  X(cuModuleGetGlobal_v2) X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuModuleLoad) \
  X(cuParamSetSize) X(cuParamSetTexRef) X(cuParamSetf) X(cuParamSeti) X(cuParamSetv) \
  X(cuProfilerInitialize) X(cuProfilerStart) X(cuProfilerStop) X(cuStreamAttachMemAsync) \
  X(cuSurfRefGetArray) X(cuSurfRefSetArray) X(cuTexRefCreate) X(cuTexRefDestroy) \
  X(cuTexRefGetAddressMode) X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetFilterMode) \
  X(cuTexRefGetFlags) X(cuTexRefGetFormat) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) \
  X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) \
  X(cuTexRefSetFormat)

#define SIMT_REFUSE(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 801; }
SIMT_ABSENT(SIMT_REFUSE)
