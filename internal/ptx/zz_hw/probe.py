import faulthandler; faulthandler.enable()
import ctypes, json, gzip, base64, sys, time, struct
import numpy as np
cu = ctypes.CDLL("libcuda.so.1")
def ck(r, what=""):
    if r:
        s = ctypes.c_char_p(); cu.cuGetErrorString(r, ctypes.byref(s))
        raise RuntimeError(f"{what}: {r} {s.value}")
ck(cu.cuInit(0)); dev = ctypes.c_int(); ck(cu.cuDeviceGet(ctypes.byref(dev), 0))
ctx = ctypes.c_void_p(); ck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev)); ck(cu.cuCtxSetCurrent(ctx))
def load(text):
    m = ctypes.c_void_p()
    log = ctypes.create_string_buffer(8192)
    opts = (ctypes.c_int*2)(5, 6)  # ERROR_LOG_BUFFER, SIZE
    vals = (ctypes.c_void_p*2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(8192))
    r = cu.cuModuleLoadDataEx(ctypes.byref(m), text.encode()+b"\0", 2, opts, vals)
    if r: raise RuntimeError(log.value.decode()[:400])
    return m
ARENA = ctypes.c_uint64(); ck(cu.cuMemAlloc_v2(ctypes.byref(ARENA), 64<<20))
def launch(m, name, grid, block, params):
    f = ctypes.c_void_p(); ck(cu.cuModuleGetFunction(ctypes.byref(f), m, name.encode()), name)
    ps = [ctypes.c_uint64(p) for p in params]
    arr = (ctypes.c_void_p*len(ps))(*[ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in ps])
    ck(cu.cuLaunchKernel(f, grid,1,1, block,1,1, 0, None, arr, None), "launch")
    ck(cu.cuCtxSynchronize(), "sync "+name)
def put(addr, b):
    if b: ck(cu.cuMemcpyHtoD_v2(ctypes.c_uint64(addr), b, ctypes.c_size_t(len(b))))
def get(addr, n):
    b = ctypes.create_string_buffer(max(n,1))
    if n: ck(cu.cuMemcpyDtoH_v2(b, ctypes.c_uint64(addr), ctypes.c_size_t(n)))
    return b.raw[:n]
t0 = time.time()
cu.cuMemcpyHtoD_v2.argtypes=[ctypes.c_uint64,ctypes.c_char_p,ctypes.c_size_t]; cu.cuMemcpyDtoH_v2.argtypes=[ctypes.c_void_p,ctypes.c_uint64,ctypes.c_size_t]
cu.cuModuleUnload.argtypes=[ctypes.c_void_p]
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f64 %g<8>; .reg .f32 %f<8>;\nld.param.u64 %d15, [out];\n"
def probe(title, body, n=8, block=1):
    try:
        m = load(HEAD+body+"\nret;\n}\n"); put(ARENA.value, b"\0"*8*n); launch(m, "k", 1, block, [ARENA.value])
        print(title, [hex(x) for x in struct.unpack(f"<{n}Q", get(ARENA.value, 8*n))])
    except Exception as e: print(title, "ERR", e)

probe("break in if", """
mov.u32 %r0, %laneid; mad.wide.u32 %d14, %r0, 32, %d15;
and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, 0;
LOOP:
@%p0 bra ENDIF;
ld.global.u32 %r6, [%d15+1024];
add.u32 %r7, %r0, %r6;
setp.gt.u32 %p1, %r2, %r7;
@%p1 bra DONE;
st.global.u32 [%d15+1028], %r7;
ENDIF:
activemask.b32 %r5;
mad.wide.u32 %d13, %r2, 4, %d14;
st.global.u32 [%d13], %r5;
add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4;
@%p2 bra LOOP;
DONE:
""", 136, 32)
probe("prefetch bad", "ld.global.u64 %d1, [%d15]; add.u64 %d1, %d1, 0x123456789120; prefetch.global.L1 [%d1]; ld.global.u64 %d1, [%d15]; add.u64 %d1, %d1, 13; prefetch.global.L1 [%d1]; mov.u64 %d1, 7; st.global.u64 [%d15], %d1;")
probe("after", "st.global.u64 [%d15], 1;")
