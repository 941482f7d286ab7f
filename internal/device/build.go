package device

import (
	"debug/elf"
	"encoding/hex"
	"strconv"
	"sync"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Code that is on the disk need not be written as text to be found: the same program translates the same function to the same text. So its name is that of the
// function, of the architecture that it is written for, and of the program.

// CodeName is the name of a function's code, written for an architecture; "" if it can have none.
func CodeName(arch int, f *ir.Func) string {
	program := programID()
	if program == "" {
		return ""
	}
	key := f.Key()
	return hex.EncodeToString(key[:]) + " " + strconv.Itoa(arch) + " " + program
}

// LoadNamed is the code of a name, or what becomes of the text that it stands for; "" is no name.
func LoadNamed(d Device, name string, text func() (string, error)) (Code, error) {
	if name != "" {
		if c := d.Stored(name, false); c != nil {
			return c, nil
		}
	}
	t, err := text()
	if err != nil {
		return nil, err
	}
	c := d.Load(t)
	if name != "" {
		c.Keep(name)
	}
	return c, nil
}

// programID is what the linker of Go has called this program: another text of the program has another name. "" where it has none, or none that can be read.
var programID = sync.OnceValue(func() string {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	s := f.Section(".note.go.buildid")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	const head = 16 // two lengths, a kind and "Go"
	if err != nil || len(note) <= head {
		return ""
	}
	return hex.EncodeToString(note[head:])
})
