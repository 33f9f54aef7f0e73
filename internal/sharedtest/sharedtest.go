// Package sharedtest reads the recordings that stand beside a checkout of the
// project, for tests that use them where they are and skip where they are not.
package sharedtest

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// Env is the environment variable that names the folder of the recordings; without it
// the folder is shared/ beside the checkout.
const Env = "BUFSLAB_SHARED"

// Dir returns the folder, or skips the test.
func Dir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv(Env); d != "" {
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

// Rows returns the rows of a gzip CSV file in the folder, less its header.
func Rows(t testing.TB, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(Dir(t), name))
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
