package column

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages; a system without them is slower, not wrong.
func adviseHuge(addr uintptr, n int) { _ = unix.Madvise(slice[byte](addr, n), unix.MADV_HUGEPAGE) }
