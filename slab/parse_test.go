package slab

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// every sets every key that can be in effect together.
var every = Config{
	Device: "virtual:fixed,64MiB", Strategy: "bestfit", Align: 64, MissTarget: 0.05, Decommit: true,
	MaxBytes: 4 << 30, MaxHeld: -1, CacheBytes: 3 << 20, TrimAfter: 90 * time.Second,
	OnForget: "free", GCValve: -1, Zero: true, Strict: true,
}

func TestLineAndJSONMeanTheSame(t *testing.T) {
	for _, text := range []string{
		"device=virtual:fixed,64MiB,strategy=bestfit,align=64,miss_target=5%,decommit=true,max_bytes=4GiB," +
			"max_held=0,cache_bytes=3MiB,trim_after=90s,on_forget=free,gc_valve=0,zero=true,strict=1",
		`{"device":"virtual:fixed,64MiB","strategy":"bestfit","align":64,"miss_target":0.05,"decommit":true,
		  "max_bytes":4294967296,"max_held":"0","cache_bytes":"3 MiB","trim_after":"1m30s","on_forget":"free",
		  "gc_valve":0,"zero":true,"strict":"true"}`,
	} {
		if c, err := ParseConfig(text); err != nil || c != every {
			t.Errorf("ParseConfig(%q) = %+v, %v", text, c, err)
		}
	}
}

func TestEmptyTextIsTheZeroConfig(t *testing.T) {
	for _, text := range []string{"", " \n", "{}", " { } "} {
		if c, err := ParseConfig(text); err != nil || c != (Config{}) {
			t.Errorf("ParseConfig(%q) = %+v, %v", text, c, err)
		}
	}
}

func TestZeroAndNoneSayWhatAZeroFieldCannot(t *testing.T) {
	for text, want := range map[string]Config{
		"cache_bytes=0":              {CacheBytes: -1},
		"cache_bytes=0B":             {CacheBytes: -1},
		"max_held=0":                 {MaxHeld: -1},
		"max_held_blocks=0":          {MaxHeldBlocks: -1},
		"gc_valve=0":                 {GCValve: -1},
		"max_bytes=none":             {},
		"max_held=none":              {},
		"max_held_blocks=none":       {MaxHeldBlocks: math.MaxInt},
		"max_block_bytes=none":       {MaxBlockBytes: math.MaxInt64},
		"trim_after=none":            {},
		`{"max_block_bytes":"none"}`: {MaxBlockBytes: math.MaxInt64},
	} {
		if c, err := ParseConfig(text); err != nil || c != want {
			t.Errorf("ParseConfig(%q) = %+v, %v", text, c, err)
		}
	}
}

func TestEveryFaultIsNamedAtOnce(t *testing.T) {
	c, err := ParseConfig("strategy=slab,stesp=4,steps=4,steps=8,bits=99,miss_target=2,align=24,max_bytes=-1,trim_after=soon,strike=1,on_forget=maybe")
	var e *ConfigError
	if !errors.As(err, &e) || c != (Config{}) {
		t.Fatalf("%+v, %v", c, err)
	}
	want := []string{
		"stesp=4: unknown key, the nearest is steps",
		"steps=8: steps is given twice",
		"max_bytes=-1: want a size of 1 byte or more or none",
		"trim_after=soon: want a positive duration like 30s or none",
		"strike=1: unknown key, the nearest is strict",
		"bits=99: want 1 to 16",
		"align=24: want a power of two, 8 to 4096",
		"miss_target=2: want a share above 0 and up to 1 (1% is 0.01)",
		"on_forget=maybe: want return, free, report",
		"bits=99: strategy slab has no use for it, only bitlog",
		"steps=4: strategy slab has no use for it, only sizeclass",
	}
	if strings.Join(e.Faults, "\n") != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(e.Faults, "\n"), strings.Join(want, "\n"))
	}
	if !strings.HasPrefix(err.Error(), "slab: config: 11 faults: ") {
		t.Errorf("error text %q", err)
	}
}

// TestOneFault has a text, and a word of the only fault that it must give.
func TestOneFault(t *testing.T) {
	for text, want := range map[string]string{
		"bits=4,strategy=slab":            "only bitlog",
		"steps=4,strategy=bitlog":         "only sizeclass",
		"miss_target=1%,strategy=exact":   "only bestfit, slab",
		"decommit=true":                   "only bestfit, slab",
		"align=64,strategy=direct":        "only sizeclass, bestfit, slab",
		"max_held=1GiB,strategy=direct":   "keeps nothing",
		"trim_after=1s,strategy=direct":   "keeps nothing",
		"max_held_blocks=4,strategy=slab": "only exact, bitlog, sizeclass",
		"cache_bytes=1MiB,strategy=exact": "only sizeclass, bestfit, slab",
		"cache_bytes=1MiB,check=true":     "check sees every call",
		"cache_bytes=1MiB,record=x.csv":   "record sees every call",
		"gc_valve=1GiB":                   "device heap",
		"strategy=best":                   "direct, exact, bitlog, sizeclass, bestfit, slab",
		"strategy=best,bits=4":            "direct, exact",
		"bits=0":                          "1 to 16",
		"steps=3":                         "power of two",
		"steps=x":                         "power of two",
		"max_bytes=0":                     "1 byte or more or none",
		"max_bytes=many":                  "1 byte or more or none",
		"max_bytes=9999999999GiB":         "1 byte or more or none",
		"max_held_blocks=-1":              "1 block or more or 0 or none",
		"miss_target=0,strategy=slab":     "above 0",
		"miss_target=NaN,strategy=slab":   "above 0",
		"trim_after=-1s":                  "positive duration",
		"device=":                         "device.Open",
		"zero=maybe":                      "true or false",
		"strict":                          "want key=value",
		"strict=true,":                    "want key=value",
		`{"steps":4,"steps":8}`:           "given twice",
		`{"steps":[4]}`:                   "a string, a number or a boolean",
		`{"steps":null}`:                  "a string, a number or a boolean",
		`{"steps":4`:                      "JSON",
		`{"steps":4} x`:                   "JSON",
		`{"steps":4}{}`:                   "JSON: something follows",
	} {
		_, err := ParseConfig(text)
		var e *ConfigError
		if !errors.As(err, &e) || len(e.Faults) != 1 || !strings.Contains(e.Faults[0], want) {
			t.Errorf("ParseConfig(%q): %v; want one fault with %q", text, err, want)
		}
	}
}

func TestTurningOffIsOfUseEverywhere(t *testing.T) {
	for _, strategy := range Strategies() {
		if _, err := ParseConfig("strategy=" + strategy + ",cache_bytes=0,max_held=0,max_held_blocks=0,gc_valve=0"); err != nil {
			t.Error(err)
		}
	}
}

func TestValidateJudgesAStruct(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	if err := every.Validate(); err != nil {
		t.Error(err)
	}
	bad := Config{Strategy: "slab", Bits: 4, Align: -8, MaxHeld: -5, CacheBytes: -2, MaxBytes: -1}
	var e *ConfigError
	if err := bad.Validate(); !errors.As(err, &e) || len(e.Faults) != 5 {
		t.Errorf("%v; want 5 faults", err)
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct{ in, want Config }{
		{Config{}, Config{Device: "heap", Strategy: "sizeclass", Steps: 4, CacheBytes: 64 << 20, OnForget: "return"}},
		{Config{Device: "mmap"}, Config{Device: "mmap", Strategy: "slab", Align: 16, MissTarget: 0.01, CacheBytes: 1 << 20,
			OnForget: "return", GCValve: 64 << 20}},
		{Config{Device: "virtual:1GiB"}, Config{Device: "virtual:1GiB", Strategy: "slab", Align: 16, MissTarget: 0.01,
			CacheBytes: 1 << 20, OnForget: "return", GCValve: -1}},
		{Config{Strategy: "bestfit"}, Config{Device: "heap", Strategy: "bestfit", Align: 16, MissTarget: 0.01,
			CacheBytes: 1 << 20, OnForget: "return"}},
		{Config{Strategy: "bitlog"}, Config{Device: "heap", Strategy: "bitlog", Bits: 4, CacheBytes: -1, OnForget: "return"}},
		{Config{Strategy: "exact"}, Config{Device: "heap", Strategy: "exact", MaxHeldBlocks: 100, MaxBlockBytes: 1 << 30,
			CacheBytes: -1, OnForget: "return"}},
		{Config{Strategy: "direct"}, Config{Device: "heap", Strategy: "direct", CacheBytes: -1, OnForget: "return"}},
		{Config{Check: true}, Config{Device: "heap", Strategy: "sizeclass", Steps: 4, CacheBytes: -1, OnForget: "return", Check: true}},
		{Config{Record: "x"}, Config{Device: "heap", Strategy: "sizeclass", Steps: 4, CacheBytes: -1, OnForget: "return", Record: "x"}},
	} {
		got := c.in.withDefaults()
		if got != c.want {
			t.Errorf("defaults of %v are\n%+v, want\n%+v", c.in, got, c.want)
		}
		if again := got.withDefaults(); again != got {
			t.Errorf("filling in twice gives %v after %v", again, got)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("defaults of %v: %v", c.in, err)
		}
	}
}

// random picks for every key zero or one of its values, by the texts of samples.
func random(r *rand.Rand) Config {
	samples := map[string][]string{
		"device": {"mmap", "virtual:fixed,64MiB", "virtual:64MiB,fixed"}, "strategy": Strategies(),
		"bits": {"1", "16"}, "steps": {"1", "64"}, "align": {"8", "4096"}, "miss_target": {"1%", "0.1", "1e-9", "33.3%"},
		"max_bytes": {"1", "1023", "1GiB", "7EiB", "9223372036854775807"}, "max_held": {"0", "5KiB"},
		"max_held_blocks": {"0", "none", "7"}, "max_block_bytes": {"none", "3MiB"}, "cache_bytes": {"0", "1000"},
		"trim_after": {"30s", "1h1ns"}, "on_forget": {"free", "report", "return"}, "gc_valve": {"0", "1TiB"},
		"record": {"x.csv", "a,b.csv.gz", "a, b", " a", "a,b=c", "a,", "true", "12", `"q"`, "<&>"},
	}
	var c Config
	for _, o := range options {
		texts := append(samples[o.name()], "true")
		if i := r.IntN(len(texts) + 1); i < len(texts) {
			if err := o.parse(&c, texts[i]); err != nil && texts[i] != "true" {
				panic(err)
			}
		}
	}
	return c
}

func TestStringAndJSONParseBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 5_000 {
		c := random(r)
		back, err := ParseConfig(c.String())
		if c.Validate() != nil {
			if err == nil {
				t.Fatalf("%v parses but is not valid", c)
			}
			continue
		}
		valid++
		if err != nil || back != c {
			t.Fatalf("%s parses back to %s, %v", c, back, err)
		}
		text, err := json.Marshal(c)
		var again Config
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again != c {
			t.Fatalf("%s parses back to %s, %v", text, again, err)
		}
	}
	if valid < 100 {
		t.Fatalf("only %d configurations were valid", valid)
	}
}

func TestUnmarshalJSONReplacesAllOrNothing(t *testing.T) {
	c := Config{Strict: true}
	if err := json.Unmarshal([]byte(`{"zero":true}`), &c); err != nil || c != (Config{Zero: true}) {
		t.Errorf("%v, %v", c, err)
	}
	var e *ConfigError
	if err := json.Unmarshal([]byte(`"zero=true"`), &c); !errors.As(err, &e) || c != (Config{Zero: true}) {
		t.Errorf("%v, %v", c, err)
	}
	if err := json.Unmarshal([]byte(`{"zeros":true}`), &c); !errors.As(err, &e) || c != (Config{Zero: true}) {
		t.Errorf("%v, %v", c, err)
	}
}

func TestConfigFromEnv(t *testing.T) {
	t.Setenv("BUFSLAB_CONF", "")
	if c, err := ConfigFromEnv(); err != nil || c != (Config{}) {
		t.Errorf("empty: %v, %v", c, err)
	}
	t.Setenv("BUFSLAB_CONF", "strict=true")
	if c, err := ConfigFromEnv(); err != nil || c != (Config{Strict: true}) {
		t.Errorf("line: %v, %v", c, err)
	}
	t.Setenv("BUFSLAB_CONF", "strikt=true")
	var e *ConfigError
	if _, err := ConfigFromEnv(); !errors.As(err, &e) || !strings.Contains(err.Error(), "BUFSLAB_CONF") {
		t.Errorf("fault: %v", err)
	}
}

func TestExplainShowsEveryKeyInEffect(t *testing.T) {
	for _, strategy := range Strategies() {
		c := Config{Device: "mmap", Strategy: strategy}
		text := c.Explain()
		for _, o := range options {
			_, why := settle(o, c.withDefaults())
			if shown := strings.Contains("\n"+text, "\n"+o.name()+" "); shown != (why != "") {
				t.Errorf("%s with strategy %s: shown is %v, in effect because of %q", o.name(), strategy, shown, why)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	for typo, want := range map[string]string{
		"stratgy": "strategy", "maxbytes": "max_bytes", "cache": "cache_bytes", "forget": "on_forget",
	} {
		if got := nearest(typo); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typo, got, want)
		}
	}
}
