package slab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Two pools that are open write no file together, a recording or what is learned: the second is not opened, and the file of the
// first stays. When the first is closed the file is free.
func TestOneFileAPool(t *testing.T) {
	for _, key := range []string{"record=", "record_last=5,record=", "strategy=bestfit,reserve=learned:"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		line := "name=first," + key + path
		t.Setenv("BUFSLAB_CONF", line)
		p := check.Ok(OpenEnv())(t)
		mustRelease(t, mustGet(t, p, 1000))
		_, err := OpenEnv()
		file := (*FileError)(nil)
		if !errors.As(err, &file) || file.File != path || !strings.Contains(err.Error(), "pool first writes it, and is open: one file a pool") {
			t.Errorf("%s: %v", key, err)
		}
		check.Must(t, p.Close())
		if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
			t.Errorf("%s: %q, %v", key, text, err)
		}
		check.Must(t, check.Ok(OpenEnv())(t).Close())
	}
	path := filepath.Join(t.TempDir(), "both")
	if _, err := OpenConfig(Config{Device: "mmap", Record: path, Reserve: "learned:" + path}); !errors.As(err, new(*FileError)) {
		t.Errorf("a file is two: %v", err)
	}
}

// A pool that cannot be opened leaves its files to others.
func TestFilesOfAPoolThatIsNotOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if _, err := OpenConfig(Config{Device: "sim:1MiB", Strategy: "slab", Reserve: "2MiB", Record: path}); err == nil {
		t.Fatal("there is room")
	}
	check.Must(t, check.Ok(OpenConfig(Config{Record: path}))(t).Close())
}

// A folder that is not there shows when the pool is opened.
func TestFoldersThatAreNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "x")
	for _, c := range []Config{{Record: path}, {RecordLast: 5, Record: path}, {Device: "mmap", Reserve: "learned:" + path}} {
		if _, err := OpenConfig(c); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
