package slab

import (
	"errors"
	"strings"
	"testing"
)

func TestAPoolHasTheNameOfItsConfigOrItsLine(t *testing.T) {
	for name, open := range map[string]func() *Pool{
		"api":                            func() *Pool { return openPool(t, "heap", Config{Name: "api"}) },
		"device=heap":                    func() *Pool { return openPool(t, "heap", Config{}) },
		"device=mmap,max_bytes=1MiB":     func() *Pool { return openLine(t, "max_bytes=1MiB,device=mmap") },
		"strategy=sizeclass":             func() *Pool { return mustOpen(t, &source{}, Config{}) },
		"strategy=direct,on_forget=free": func() *Pool { return mustOpen(t, &source{}, Config{Strategy: "direct", OnForget: "free"}) },
	} {
		if p := open(); p.Name() != name {
			t.Errorf("%q, want %q", p.Name(), name)
		}
	}
}

func TestNamesThatNoLogCanHoldAreRefused(t *testing.T) {
	for _, name := range []string{"a\nb", "\x00", "a\x7f", "a\u2028", "a\xff", strings.Repeat("é", 101)} {
		var e *ConfigError
		if err := (Config{Name: name}).Validate(); !errors.As(err, &e) || !strings.Contains(err.Error(), "printable") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a, b=c", "größe", strings.Repeat("é", 100), "{}"} {
		c := Config{Name: name}
		again, err := ParseConfig(c.String())
		if err != nil || again != c {
			t.Errorf("%q is read back as %+v, %v", name, again, err)
		}
	}
}

func TestErrorsNameThePool(t *testing.T) {
	p := openPool(t, "heap", Config{Name: "api", MaxBytes: 1 << 20})
	b := mustGet(t, p, 1)
	_, err := p.Get(2 << 20)
	var oom *OutOfMemoryError
	if !errors.As(err, &oom) || oom.Pool != "api" || !strings.Contains(err.Error(), "pool api: no room") {
		t.Error(err)
	}
	err = p.Close()
	var leak *LeakError
	if !errors.As(err, &leak) || leak.Pool != "api" || !strings.Contains(err.Error(), "pool api closed") {
		t.Error(err)
	}
	mustRelease(t, b)
}
