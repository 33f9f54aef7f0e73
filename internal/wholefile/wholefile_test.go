package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

var errTest = errors.New("test")

// A file is as it was until the new one is complete, and nothing else is left.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv.gz")
	write := func(text string, err error) error {
		return Replace(path, func(part string) error {
			if filepath.Base(part) != "x.csv.gz" {
				t.Errorf("the part is %s", part)
			}
			check.Must(t, os.WriteFile(part, []byte(text), 0o666))
			return err
		})
	}
	want := func(text string, files int) {
		t.Helper()
		now, err := os.ReadFile(path)
		if string(now) != text || text == "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is there, want %q, %v", now, text, err)
		}
		if all := check.Ok(os.ReadDir(dir))(t); len(all) != files {
			t.Errorf("%v", all)
		}
	}
	check.Wraps(t, write("a", errTest), errTest)
	want("", 0)
	check.Must(t, write("a", nil))
	want("a", 1)
	check.Must(t, os.Chmod(path, 0o640))
	mode := check.Ok(os.Stat(path))(t).Mode().Perm() // on Windows all may read and write
	check.Wraps(t, write("b", errTest), errTest)
	want("a", 1)
	check.Must(t, write("b", nil))
	want("b", 1)
	if m := check.Ok(os.Stat(path))(t).Mode().Perm(); m != mode {
		t.Errorf("its mode is %v now", m)
	}
}

// A link stays, and the file is replaced where it leads.
func TestReplaceOfALink(t *testing.T) {
	path, link := filepath.Join(t.TempDir(), "x.csv.gz"), filepath.Join(t.TempDir(), "link")
	check.Must(t, os.WriteFile(path, []byte("b"), 0o666))
	check.Symlink(t, path, link)
	check.Must(t, Replace(link, func(part string) error {
		if filepath.Base(part) != "link" { // whose end says whether to compress
			t.Errorf("the part is %s", part)
		}
		return os.WriteFile(part, []byte("c"), 0o666)
	}))
	if text, err := os.ReadFile(path); string(text) != "c" {
		t.Errorf("%q is there, %v", text, err)
	}
	if at, err := os.Readlink(link); at != path {
		t.Errorf("the link leads to %q, %v", at, err)
	}
}

// A link to a file that is not there yet stays a link, and the file is made where it leads.
func TestReplaceOfALinkToNothing(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	link, next := filepath.Join(dir, "link"), filepath.Join(dir, "next")
	check.Symlink(t, filepath.Join(other, "x"), next)
	check.Symlink(t, "next", link)
	check.Must(t, Replace(link, func(part string) error { return os.WriteFile(part, []byte("a"), 0o666) }))
	if text, err := os.ReadFile(filepath.Join(other, "x")); string(text) != "a" {
		t.Errorf("%q is there, %v", text, err)
	}
	for path, to := range map[string]string{link: "next", next: filepath.Join(other, "x")} {
		if at, err := os.Readlink(path); at != to {
			t.Errorf("%s leads to %q, %v", path, at, err)
		}
	}
	check.Must(t, os.Remove(next), os.Symlink("link", next)) // a circle
	if err := Replace(link, func(string) error { return nil }); err == nil {
		t.Error("a link in a circle was replaced")
	}
}

// What is no file is written to, and not removed if that fails.
func TestReplaceOfADevice(t *testing.T) {
	to := ""
	check.Wraps(t, Replace(os.DevNull, func(path string) error { to = path; return errTest }), errTest)
	if _, err := os.Stat(os.DevNull); to != os.DevNull || err != nil {
		t.Errorf("written to %q, %v", to, err)
	}
}

func TestReplaceWhereNothingCanBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "x")
	err := Replace(path, func(string) error { return nil })
	if check.Wraps(t, err, os.ErrNotExist); !strings.Contains(err.Error(), path+":") {
		t.Error(err)
	}
	if err := Replace(t.TempDir(), func(path string) error { return os.WriteFile(path, nil, 0o666) }); err == nil {
		t.Error("a folder was replaced")
	}
}
