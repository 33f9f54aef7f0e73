package check

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// InChild runs the test again in a process of its own, where it returns true. The process has env beside the
// environment of this one. Here it returns false when that process has ended.
func InChild(t *testing.T, env ...string) bool {
	t.Helper()
	const name = "BUFSLAB_TEST_CHILD"
	if os.Getenv(name) == t.Name() {
		return true
	}
	StartsItself(t)
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), env...), name+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if _, why, skipped := strings.Cut(string(out), "--- SKIP"); skipped {
		t.Skip(why)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// foreign reports whether the system cannot run this program by itself. It tries once.
var foreign = sync.OnceValue(func() bool {
	return errors.Is(exec.Command(os.Args[0], "-test.run=^$").Run(), syscall.ENOEXEC)
})

// StartsItself skips a test that starts its own program where an emulator runs that, which the system does not
// know of.
func StartsItself(t testing.TB) {
	t.Helper()
	if foreign() {
		t.Skip("an emulator runs this program, and the system cannot start it")
	}
}
