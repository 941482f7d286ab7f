package column

// adviseHuge does nothing: macOS chooses page sizes itself.
func adviseHuge(uintptr, int) {}
