package claim

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A file has one owner, by whatever name it is called, until that releases it.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	release, err := File("t.csv", "first")
	check.Must(t, err)
	_, err = File(filepath.Join(dir, ".", "t.csv"), "second")
	if taken := (*TakenError)(nil); !errors.As(err, &taken) || taken.Owner != "first" {
		t.Error(err)
	}
	check.Must(t, os.WriteFile("t.csv", nil, 0o666))
	release()
	again, err := File("t.csv", "second")
	check.Must(t, err)
	again()
}

// A link is the file that it leads to.
func TestLink(t *testing.T) {
	t.Chdir(t.TempDir())
	check.Must(t, os.WriteFile("t.csv", nil, 0o666))
	check.Symlink(t, "t.csv", "link.csv")
	release, err := File("t.csv", "first")
	check.Must(t, err)
	defer release()
	if _, err := File("link.csv", "second"); err == nil {
		t.Error("a link is another file")
	}
}

// The folder has to be there, and what is no regular file may have several owners.
func TestFolders(t *testing.T) {
	if _, err := File(filepath.Join(t.TempDir(), "no", "t.csv"), "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for range 2 {
		if _, err := File(os.DevNull, "x"); err != nil {
			t.Error(err)
		}
	}
}
