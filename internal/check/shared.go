package check

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// SharedDir returns the folder of the recordings, or skips the test: the one that BUFSLAB_SHARED names, or
// shared/ beside the checkout.
func SharedDir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("BUFSLAB_SHARED"); d != "" {
		return d
	}
	d, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for filepath.Dir(d) != d {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			shared := filepath.Join(filepath.Dir(d), "shared")
			if s, err := os.Stat(shared); err == nil && s.IsDir() {
				return shared
			}
		}
		d = filepath.Dir(d)
	}
	t.Skip("no folder shared/ beside the checkout, which has the recordings that this test compares with")
	return ""
}

// SharedRows returns the rows of a gzip CSV file in that folder, less its header.
func SharedRows(t testing.TB, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(SharedDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	return rows[1:]
}
