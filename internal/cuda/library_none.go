//go:build !linux || !(amd64 || arm64) || nogpu

package cuda

// Built reports that this build can use GPUs.
const Built = false

func bind(string, []function) error {
	return &Unavailable{Why: "this build of Kelpie has no GPU support"}
}
