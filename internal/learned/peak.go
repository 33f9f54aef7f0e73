// Package learned reads and writes what a pool learns from an earlier run: the most bytes that it had in use.
package learned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/bufslab/bufslab/internal/wholefile"
)

// A FileError says that a file that a Config names is there, but not what it should be.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("slab: %s: %v", e.File, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }

// peakFormat is all of the file of a learned reserve.
const peakFormat = "bufslab peak 1 %d\n"

// PeakOf returns the peak in a file, 0 if there is no file.
func PeakOf(file string) (int64, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 100))
	if err != nil {
		return 0, err
	}
	var n int64
	if _, err := fmt.Sscanf(string(text), peakFormat, &n); err != nil || n <= 0 || n > math.MaxInt64/2 ||
		fmt.Sprintf(peakFormat, n) != string(text) {
		return 0, &FileError{file, fmt.Errorf("want the line bufslab peak 1 BYTES, not %.40q", text)}
	}
	return n, nil
}

// WritePeak replaces the file at once, so that nobody reads a part of it. A run that
// used nothing has learned nothing.
func WritePeak(file string, peak int64) error {
	if peak == 0 {
		return nil
	}
	return wholefile.Replace(file, func(part string) error {
		return os.WriteFile(part, fmt.Appendf(nil, peakFormat, peak), 0o666)
	})
}
