package slab

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A recording says what its pool promised beyond what every pool does, also when the rows of the time are gone.
func TestRecordedPromises(t *testing.T) {
	for line, want := range map[string]string{
		"device=mmap":                                     "",
		"device=mmap,align=256":                           "p,256,0",
		"device=heap,zero=true":                           "p,0,1",
		"device=sim:1MiB:pinned":                          "p,0,2",
		"device=mmap,strategy=bestfit,zero=true,align=32": "p,32,1",
	} {
		p := MustOpen(line + ",record_last=2")
		for range 5 {
			mustRelease(t, mustGet(t, p, 100))
		}
		rows := recorded(t, p)
		i := slices.IndexFunc(rows, func(row string) bool { return row[0] == 'p' })
		if i > 0 || i < 0 && want != "" || i == 0 && rows[0] != want {
			t.Errorf("%s: %v, want %q first", line, rows, want)
		}
		check.Must(t, p.Close())
	}
}

// That a program gives back slices of which it keeps no handle is noted with the first Put.
func TestRecordedBySlice(t *testing.T) {
	p := openPool(t, "mmap", Config{RecordLast: 100})
	for range 2 {
		check.Must(t, p.Put(check.Ok(p.GetBytes(5000))(t)))
	}
	wantRecorded(t, p, "p,0,4", "a,0,5000", "f,0,5000", "a,1,5000", "f,1,5000")
}
