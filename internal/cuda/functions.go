package cuda

import "unsafe"

// library holds the functions of libcuda. Names with _v2 and _v3 are the ones that the headers of the
// toolkit mean by the plain names.
type library struct {
	init          func(flags uint32) Code
	driverVersion func(version *int32) Code
	errorName     func(code Code, name **byte) Code
	errorText     func(code Code, text **byte) Code

	deviceCount func(n *int32) Code
	deviceGet   func(dev *int32, ordinal int32) Code
	deviceName  func(name *byte, length, dev int32) Code
	deviceBytes func(bytes *uint64, dev int32) Code
	deviceAttr  func(value *int32, attribute, dev int32) Code
	deviceBus   func(bus *byte, length, dev int32) Code
	devicePool  func(pool *uintptr, dev int32) Code

	primaryRetain  func(ctx *uintptr, dev int32) Code
	primaryRelease func(dev int32) Code
	setCurrent     func(ctx uintptr) Code
	syncContext    func() Code
	setLimit       func(limit int32, value uint64) Code

	memInfo        func(free, total *uint64) Code
	poolSet        func(pool uintptr, attribute int32, value *uint64) Code
	poolGet        func(pool uintptr, attribute int32, value *uint64) Code
	poolTrim       func(pool uintptr, keep uint64) Code
	allocAsync     func(ptr *Ptr, bytes uint64, stream uintptr) Code
	freeAsync      func(ptr Ptr, stream uintptr) Code
	hostAlloc      func(ptr *unsafe.Pointer, bytes uint64, flags uint32) Code
	hostFree       func(ptr unsafe.Pointer) Code
	hostRegister   func(ptr unsafe.Pointer, bytes uint64, flags uint32) Code
	hostUnregister func(ptr unsafe.Pointer) Code
	hostDevicePtr  func(dev *Ptr, ptr unsafe.Pointer, flags uint32) Code
	copyUp         func(dst Ptr, src unsafe.Pointer, bytes uint64, stream uintptr) Code
	copyDown       func(dst unsafe.Pointer, src Ptr, bytes uint64, stream uintptr) Code
	copyDevice     func(dst, src Ptr, bytes uint64, stream uintptr) Code
	fill8          func(dst Ptr, value uint8, n uint64, stream uintptr) Code

	streamCreate  func(stream *uintptr, flags uint32) Code
	streamDestroy func(stream uintptr) Code
	streamSync    func(stream uintptr) Code
	streamWait    func(stream, event uintptr, flags uint32) Code
	eventCreate   func(event *uintptr, flags uint32) Code
	eventDestroy  func(event uintptr) Code
	eventRecord   func(event, stream uintptr) Code
	eventSync     func(event uintptr) Code
	eventElapsed  func(ms *float32, from, to uintptr) Code

	linkCreate   func(n uint32, options *int32, values *uintptr, state *uintptr) Code
	linkAdd      func(state uintptr, kind int32, data unsafe.Pointer, bytes uint64, name *byte, n uint32, options *int32, values *uintptr) Code
	linkComplete func(state uintptr, cubin *unsafe.Pointer, bytes *uint64) Code
	linkDestroy  func(state uintptr) Code
	moduleLoad   func(module *uintptr, image unsafe.Pointer) Code
	moduleUnload func(module uintptr) Code
	moduleFunc   func(fn *uintptr, module uintptr, name *byte) Code
	funcAttr     func(value *int32, attribute int32, fn uintptr) Code
	funcSetAttr  func(fn uintptr, attribute, value int32) Code
	occupancy    func(blocks *int32, fn uintptr, threads int32, shared uint64, flags uint32) Code
	launch       func(fn uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, params, extra *uintptr) Code
}

type function struct {
	name string
	to   any
}

// functions says where each function of the library goes.
func (l *library) functions() []function {
	return []function{
		{"cuInit", &l.init}, {"cuDriverGetVersion", &l.driverVersion},
		{"cuGetErrorName", &l.errorName}, {"cuGetErrorString", &l.errorText},
		{"cuDeviceGetCount", &l.deviceCount}, {"cuDeviceGet", &l.deviceGet}, {"cuDeviceGetName", &l.deviceName},
		{"cuDeviceTotalMem_v2", &l.deviceBytes},
		{"cuDeviceGetAttribute", &l.deviceAttr}, {"cuDeviceGetPCIBusId", &l.deviceBus}, {"cuDeviceGetDefaultMemPool", &l.devicePool},
		{"cuDevicePrimaryCtxRetain", &l.primaryRetain}, {"cuDevicePrimaryCtxRelease_v2", &l.primaryRelease},
		{"cuCtxSetCurrent", &l.setCurrent},
		{"cuCtxSynchronize", &l.syncContext}, {"cuCtxSetLimit", &l.setLimit},
		{"cuMemGetInfo_v2", &l.memInfo}, {"cuMemPoolSetAttribute", &l.poolSet},
		{"cuMemPoolGetAttribute", &l.poolGet}, {"cuMemPoolTrimTo", &l.poolTrim},
		{"cuMemAllocAsync", &l.allocAsync}, {"cuMemFreeAsync", &l.freeAsync},
		{"cuMemHostAlloc", &l.hostAlloc}, {"cuMemFreeHost", &l.hostFree},
		{"cuMemHostRegister_v2", &l.hostRegister}, {"cuMemHostUnregister", &l.hostUnregister},
		{"cuMemHostGetDevicePointer_v2", &l.hostDevicePtr},
		{"cuMemcpyHtoDAsync_v2", &l.copyUp}, {"cuMemcpyDtoHAsync_v2", &l.copyDown}, {"cuMemcpyDtoDAsync_v2", &l.copyDevice},
		{"cuMemsetD8Async", &l.fill8},
		{"cuStreamCreate", &l.streamCreate}, {"cuStreamDestroy_v2", &l.streamDestroy},
		{"cuStreamSynchronize", &l.streamSync}, {"cuStreamWaitEvent", &l.streamWait},
		{"cuEventCreate", &l.eventCreate}, {"cuEventDestroy_v2", &l.eventDestroy}, {"cuEventRecord", &l.eventRecord},
		{"cuEventSynchronize", &l.eventSync}, {"cuEventElapsedTime", &l.eventElapsed},
		{"cuLinkCreate_v2", &l.linkCreate}, {"cuLinkAddData_v2", &l.linkAdd}, {"cuLinkComplete", &l.linkComplete},
		{"cuLinkDestroy", &l.linkDestroy}, {"cuModuleLoadData", &l.moduleLoad}, {"cuModuleUnload", &l.moduleUnload},
		{"cuModuleGetFunction", &l.moduleFunc}, {"cuFuncGetAttribute", &l.funcAttr}, {"cuFuncSetAttribute", &l.funcSetAttr},
		{"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", &l.occupancy}, {"cuLaunchKernel", &l.launch},
	}
}
