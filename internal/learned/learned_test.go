package learned

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const plan = "bufslab plan 1\n4096 0\n100 4096\nstep\n4096 32\nend b63a022b\n"

func text(t testing.TB, p Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePlan(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlanIsReadAsItWasWritten(t *testing.T) {
	p := Plan{{{4096, 0}, {100, 4096}}, {{4096, 32}}}
	if got := text(t, p); got != plan {
		t.Errorf("written as %q", got)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(plan))
	z.Close()
	for _, in := range []string{plan, packed.String()} {
		if back, err := ReadPlan(strings.NewReader(in)); err != nil || !reflect.DeepEqual(back, p) || back.Bytes() != 4196 {
			t.Errorf("%v, %v", back, err)
		}
	}
}

// Blocks may rest on others of any step, may overlap, and may leave what alignment takes.
func TestDense(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		want bool
	}{
		{nil, true}, {Plan{nil}, true},
		{Plan{{{100, 4096}}, {{5000, 0}, {7, 3}}}, true},
		{Plan{{{100, 4095}}}, true}, {Plan{{{100, 4096}}}, false},
		{Plan{{{9000, 0}, {10, 10}, {100, 13095}}}, true}, {Plan{{{9000, 0}, {10, 10}, {100, 13096}}}, false},
		{Plan{{{math.MaxInt - 9, 9}, {20, 0}}}, true},
	} {
		if got := c.plan.Dense(); got != c.want {
			t.Errorf("%v: %v", c.plan, got)
		}
	}
}

// What is no plan is an error, whatever its checksum says.
func TestWhatIsNoPlan(t *testing.T) {
	for _, lines := range []string{
		"", "bufslab plan 2\n", "bufslab plan 1\n5\n", "bufslab plan 1\n0 5\n", "bufslab plan 1\n-5 0\n", "bufslab plan 1\n5 -16\n",
		"bufslab plan 1\n5 x\n", "bufslab plan 1\n99999999999999999999 0\n", "bufslab plan 1\n100 9223372036854775800\n",
		"bufslab plan 1\n\n", "bufslab plan 1\n" + strings.Repeat("9", 100_000) + "\n",
	} {
		if p, err := ReadPlan(strings.NewReader(lines + "end " + sumOf(lines) + "\n")); err == nil {
			t.Errorf("%.60q is %v", lines, p)
		}
	}
	if _, err := ReadPlan(strings.NewReader(plan + "\n")); err == nil {
		t.Error("something follows the end")
	}
}

// Each byte that is missing, too many or another one is found, alone or with all that follow.
// What is too long to be read is not written, and what is as long as can be is read.
func TestPlanOfTooManyLines(t *testing.T) {
	var b bytes.Buffer
	steps := make(Plan, maxLines/2) // a line between two of them, a hint each, a header and an end
	for i := range steps {
		steps[i] = []Hint{{8, 8 * i}}
	}
	if err := WritePlan(&b, steps); err == nil || b.Len() > 0 {
		t.Errorf("%d bytes of a plan of %d lines, %v", b.Len(), 2*len(steps)+1, err)
	}
	steps[0] = nil
	if back, err := ReadPlan(strings.NewReader(text(t, steps))); err != nil || len(back) != len(steps) {
		t.Errorf("%d steps of %d, %v", len(back), len(steps), err)
	}
}

func TestEveryDamageIsFound(t *testing.T) {
	for i := range plan {
		for _, damaged := range []string{plan[:i], plan[:i] + plan[i+1:], plan[:i] + "7" + plan[i+1:], plan[:i] + "7" + plan[i:]} {
			last := damaged+"\n" == plan // only the newline is gone
			if p, err := ReadPlan(strings.NewReader(damaged)); err == nil && damaged != plan && !last {
				t.Errorf("%q is %v", damaged, p)
			}
		}
	}
}

func TestPlanOf(t *testing.T) {
	if p, err := PlanOf(""); p != nil || err != nil {
		t.Errorf("no file: %v, %v", p, err)
	}
	file := filepath.Join(t.TempDir(), "plan")
	if _, err := PlanOf(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	var e *FileError
	if err := os.WriteFile(file, []byte(plan[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanOf(file); !errors.As(err, &e) || e.File != file || !errors.Is(err, errCut) {
		t.Errorf("a file that was cut: %v", err)
	}
}

// FuzzReadPlan: what is read as a plan can be written, and is then read as the same.
func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(plan))
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		b := []byte(plan)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := ReadPlan(bytes.NewReader(in))
		if err != nil {
			return
		}
		back, err := ReadPlan(strings.NewReader(text(t, p)))
		if err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%v became %v, %v", p, back, err)
		}
	})
}

// sumOf returns the checksum of lines.
func sumOf(lines string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(lines))) }

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
