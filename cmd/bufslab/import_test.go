package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/trace"
)

const cupyLog = `{"hook":"malloc","device_id":0,"size":24,"mem_size":512,"mem_ptr":4096}
{"hook":"malloc","device_id":1,"size":40,"mem_size":512,"mem_ptr":4096}
{"hook":"free","device_id":0,"mem_size":512,"mem_ptr":4096}
`

func TestImportWritesATrace(t *testing.T) {
	in, out := file(t, cupyLog), filepath.Join(t.TempDir(), "out.csv")
	code, stdout, stderr := command("import", in, "-o", out)
	if code != exitOK || stdout != "CuPy memory hook: 2 allocations and 1 frees written to "+out+"\n" ||
		stderr != "bufslab: warning: "+in+": 2 pools are mixed, -pool keeps one: 0, 1\n" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	got, err := os.ReadFile(out)
	if want := "op,id,size,key\na,0,24,0\na,1,40,1\nf,0,24,0\n"; err != nil || string(got) != want {
		t.Errorf("%v: %s", err, got)
	}
}

func TestImportedTracesCanBeReplayed(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.csv.gz")
	if code, _, stderr := command("import", "-o", out, "-pool", "0", file(t, cupyLog)); code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	code, stdout, stderr := command("replay", "-json", "-config", "strategy=direct", out)
	if code != exitOK || stderr != "" || !strings.Contains(stdout, `"allocs":1,"frees":1,"grows":0,"processors":1,"peak_live_bytes":24,`) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestImportWarns(t *testing.T) {
	in := file(t, cupyLog+"{\"epoch\":1}\n")
	code, _, stderr := command("import", "-pool=0", in, "-o", filepath.Join(t.TempDir(), "out.csv"))
	if want := "bufslab: warning: trace: " + in + ": 1 lines or events of an unknown kind, left out, the first in line 4\n"; code != exitOK || stderr != want {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What cannot be imported leaves no file behind.
func TestImportRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.csv")
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"import wants one file and -o TRACE":          {exitBad, []string{file(t, cupyLog)}},
		"import wants one file":                       {exitBad, []string{"-o", out}},
		"-o TRACE\n\nbufslab import":                  {exitBad, []string{file(t, cupyLog), file(t, cupyLog), "-o", out}},
		"flag provided but not defined: -x":           {exitBad, []string{file(t, cupyLog), "-x"}},
		`no pool "2", the log has: 0, 1`:              {exitBad, []string{file(t, cupyLog), "-pool", "2", "-o", out}},
		"begins like no log that is known":            {exitInput, []string{file(t, small), "-o", out}},
		":4: log cannot be imported: size":            {exitInput, []string{file(t, cupyLog+`{"hook":"malloc","mem_ptr":1}`+"\n"), "-o", out}},
		"no such file or directory":                   {exitInput, []string{"/no/such/file", "-o", out}},
		"/no/such/directory/out.csv: no such file or": {exitFailed, []string{file(t, cupyLog), "-o", "/no/such/directory/out.csv"}},
	} {
		code, stdout, stderr := command(append([]string{"import"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d: %s%s", c.args, code, stdout, stderr)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	if code, stdout, _ := command("import", "-help"); code != exitOK || stdout != importHelp {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// A file that was there stays if nothing can be made of the log, and the log may be that file.
func TestImportReplacesAtOnce(t *testing.T) {
	rows := strings.Split(cupyLog, "\n")[0] + "\n"
	log := file(t, strings.Repeat(rows, 5000)) // of more than one part
	was, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command("import", "-pool", "none", log, "-o", log); code != exitBad {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if now, err := os.ReadFile(log); string(now) != string(was) {
		t.Errorf("%d bytes are left of %d, %v", len(now), len(was), err)
	}
	code, stdout, stderr := command("import", log, "-o", log)
	if code != exitOK || !strings.Contains(stdout, "5000 allocations") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if tr, err := trace.Load(log); err != nil || tr.Allocs != 5000 {
		t.Errorf("%+v, %v", tr, err)
	}
	page := file(t, "precious")
	if code, _, stderr := command("report", "-o", page, "-config", "max_bytes=2000", file(t, small)); code != exitFailed {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if now, err := os.ReadFile(page); string(now) != "precious" {
		t.Errorf("%q is left, %v", now, err)
	}
}
