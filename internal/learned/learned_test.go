package learned

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A run that used nothing leaves what another has learned, and a write that fails leaves no
// file behind.
func TestPeaksAreReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	file, taken := filepath.Join(dir, "peak"), filepath.Join(dir, "taken")
	for _, peak := range []int64{5, 7, 0} {
		if err := WritePeak(file, peak); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := PeakOf(file); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, text := range []string{"", "bufslab peak 1 0\n", "bufslab peak 1 5", "bufslab peak 1 5\n6", "bufslab peak 1 +5\n", "bufslab peak 1 9223372036854775807\n"} {
		var fault *FileError
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if n, err := PeakOf(file); n != 0 || !errors.As(err, &fault) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if err := os.Mkdir(taken, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WritePeak(taken, 7); err == nil {
		t.Error("a directory was replaced")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("there are %v", files)
	}
}
