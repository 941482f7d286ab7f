package budget

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// machineMemory is the memory of the machine, or of the container that the process runs in if that is less; 0: unknown.
func machineMemory() int64 {
	least := meminfo("/proc/meminfo")
	for _, limit := range []int64{cgroup2(), number("/sys/fs/cgroup/memory/memory.limit_in_bytes")} {
		if limit > 0 && (least == 0 || limit < least) {
			least = limit
		}
	}
	return least
}

// meminfo reads the total from a file like /proc/meminfo.
func meminfo(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if w := strings.Fields(lines.Text()); len(w) == 3 && w[0] == "MemTotal:" && w[2] == "kB" {
			n, _ := strconv.ParseInt(w[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// cgroup2 is the least limit of the process's control group and those above it.
func cgroup2() (least int64) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		path, ok := strings.CutPrefix(line, "0::")
		for ok {
			if n := number("/sys/fs/cgroup" + path + "/memory.max"); n > 0 && (least == 0 || n < least) {
				least = n
			}
			i := strings.LastIndexByte(path, '/')
			if i < 0 {
				break
			}
			path = path[:i]
		}
	}
	return least
}

// number reads a file that holds one; 0 if there is none, such as "max".
func number(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
