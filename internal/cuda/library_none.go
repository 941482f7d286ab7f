//go:build !linux || !(amd64 || arm64) || nogpu

package cuda

// built says why this build has no GPU.
const built = "this build of Kelpie has no GPU support"

func load(*library) error { return &Unavailable{Why: built} }
