package column

import (
	"os"
	"os/exec"
	"testing"
)

// alone reports that the test has the process for itself. Else it runs the test in another process, and
// the caller returns. Tests that count the memory in use need it: what other tests have left behind
// is given back whenever the garbage collector comes by.
func alone(t *testing.T) bool {
	t.Helper()
	const name = "KELPIE_TEST_ALONE"
	if os.Getenv(name) == t.Name() {
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
