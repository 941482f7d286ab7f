package cuda

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// oldest is the driver version from which on all functions, memory pools and PTX 7.4 are there.
const oldest = 11040

// Driver is the driver of this process.
type Driver struct {
	lib     library
	version int
}

var open = sync.OnceValues(func() (*Driver, error) {
	d := &Driver{}
	if err := bind("libcuda.so.1", d.lib.functions()); err != nil {
		return nil, err
	}
	// Threads keep a current context: cuInit too belongs to a locked one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	switch code := d.lib.init(0); code {
	case success:
	case noDevice:
		return nil, &Unavailable{Why: "the NVIDIA driver finds no GPU"}
	case insufficient:
		return nil, &Unavailable{Why: "the NVIDIA driver's library does not fit its kernel module"}
	default:
		return nil, &Unavailable{Why: "the NVIDIA driver does not start: " + d.failure("cuInit", code).Error()}
	}
	var v int32
	if code := d.lib.driverVersion(&v); code != success {
		return nil, d.failure("cuDriverGetVersion", code)
	}
	if d.version = int(v); d.version < oldest {
		return nil, &Unavailable{Why: fmt.Sprintf("the NVIDIA driver is too old: it speaks CUDA %d.%d, 11.4 or newer is needed", v/1000, v%1000/10)}
	}
	return d, nil
})

// Open returns the driver, or an Unavailable error that says what is missing. The first call starts
// the driver, which takes a fraction of a second; later ones return what it found.
func Open() (*Driver, error) { return open() }

// Version is the newest CUDA version that the driver speaks, as 13000 for 13.0.
func (d *Driver) Version() int { return d.version }

func (d *Driver) failure(call string, code Code) *Error {
	e := &Error{Call: call, Code: code, Name: fmt.Sprintf("CUDA error %d", code), Text: "failed"}
	var p *byte
	if d.lib.errorName(code, &p) == success && p != nil {
		e.Name = text(p)
	}
	if d.lib.errorText(code, &p) == success && p != nil {
		e.Text = text(p)
	}
	return e
}

// text copies a C string.
func text(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// Info is what is known of a device without using it.
type Info struct {
	Ordinal        int
	Name           string
	Major, Minor   int // compute capability
	Memory         uint64
	Units          int // multiprocessors
	ThreadsPerUnit int
	SharedPerBlock int // the most a block may ask for
	SharedPerUnit  int
	RegistersPer   int // of a multiprocessor
	L2             int
	Warp           int
	Pools          bool // stream-ordered memory
	ClockKHz       int  // of its memory
	BusBits        int  // of its memory
}

// Arch is the name that PTX and the compiler use, as sm_90.
func (i *Info) Arch() string { return fmt.Sprintf("sm_%d%d", i.Major, i.Minor) }

// Attributes of devices, as numbered by the driver.
const (
	attrWarp           = 10
	attrUnits          = 16
	attrMemoryClock    = 36
	attrMemoryBus      = 37
	attrL2             = 38
	attrThreadsPerUnit = 39
	attrMajor          = 75
	attrMinor          = 76
	attrSharedPerUnit  = 81
	attrRegisters      = 82
	attrSharedOptin    = 97
	attrPools          = 115
)

// Devices lists the devices.
func (d *Driver) Devices() ([]Info, error) {
	var n int32
	if code := d.lib.deviceCount(&n); code != success {
		return nil, d.failure("cuDeviceGetCount", code)
	}
	var all []Info
	for i := range n {
		info, err := d.device(i)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

func (d *Driver) device(ordinal int32) (Info, error) {
	info := Info{Ordinal: int(ordinal)}
	var dev int32
	if code := d.lib.deviceGet(&dev, ordinal); code != success {
		return info, d.failure("cuDeviceGet", code)
	}
	name := make([]byte, 256)
	if code := d.lib.deviceName(&name[0], int32(len(name)), dev); code != success {
		return info, d.failure("cuDeviceGetName", code)
	}
	info.Name = text(&name[0])
	if code := d.lib.deviceBytes(&info.Memory, dev); code != success {
		return info, d.failure("cuDeviceTotalMem", code)
	}
	var pools int
	for _, a := range []struct {
		attr int32
		to   *int
	}{
		{attrWarp, &info.Warp}, {attrUnits, &info.Units}, {attrL2, &info.L2}, {attrThreadsPerUnit, &info.ThreadsPerUnit},
		{attrMajor, &info.Major}, {attrMinor, &info.Minor}, {attrSharedPerUnit, &info.SharedPerUnit},
		{attrRegisters, &info.RegistersPer}, {attrSharedOptin, &info.SharedPerBlock}, {attrPools, &pools},
		{attrMemoryClock, &info.ClockKHz}, {attrMemoryBus, &info.BusBits},
	} {
		var v int32
		if code := d.lib.deviceAttr(&v, a.attr, dev); code != success {
			return info, d.failure("cuDeviceGetAttribute", code)
		}
		*a.to = int(v)
	}
	info.Pools = pools != 0
	return info, nil
}

// String is the driver in words: its own version, where the system tells it, and CUDA's.
func (d *Driver) String() string {
	s := fmt.Sprintf("CUDA %d.%d", d.version/1000, d.version%1000/10)
	if text, err := os.ReadFile("/proc/driver/nvidia/version"); err == nil {
		if v := moduleVersion(string(text)); v != "" {
			s = "driver " + v + ", " + s
		}
	}
	return s
}

// moduleVersion finds the version in what the kernel module says of itself: the first word of
// its first line that is numbers with points between.
func moduleVersion(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for word := range strings.FieldsSeq(line) {
		if strings.Contains(word, ".") && strings.Trim(word, "0123456789.") == "" {
			return word
		}
	}
	return ""
}
