package check

import (
	"os"
	"os/exec"
	"testing"
)

// GoCommand skips the test where there is no go command to run.
func GoCommand(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command: ", err)
	}
}

// Symlink makes a link, or skips the test where the system makes none: Windows asks for a privilege, and
// wine 8 does nothing and reports no error.
func Symlink(t testing.TB, to, at string) {
	t.Helper()
	err := os.Symlink(to, at)
	if err == nil {
		_, err = os.Readlink(at)
	}
	if err != nil {
		t.Skip("this system makes no links: ", err)
	}
}
