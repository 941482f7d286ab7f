package file

import (
	"os"
	"syscall"
)

func inodeOf(st os.FileInfo) inode {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{uint64(s.Dev), s.Ino, s.Ctimespec.Nano()}
}
