package check

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
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
