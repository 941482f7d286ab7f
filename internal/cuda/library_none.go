//go:build !linux || !(amd64 || arm64) || nogpu

package cuda

func load(*library) error { return &Unavailable{Why: "this build of Kelpie has no GPU support"} }
