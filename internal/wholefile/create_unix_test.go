//go:build unix

package wholefile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"golang.org/x/sys/unix"
)

// A Write to a pipe fails once its reader has gone, and does not wait for its own file to read.
func TestCreateOnAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	check.Must(t, unix.Mkfifo(path, 0o600))
	reader := check.Ok(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))(t)
	f := check.Ok(Create(path))(t)
	defer f.Close()
	check.Must(t, reader.Close())
	check.Wraps(t, check.Err(f.WriteString("rows\n")), syscall.EPIPE)
}
