package slab

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestKeys has a line for every key, as String writes it, and what it means.
func TestKeys(t *testing.T) {
	for line, want := range map[string]Config{
		"":                                                      {},
		"device=virtual:fixed,64MiB":                            {Device: "virtual:fixed,64MiB"},
		"strategy=bitlog,bits=16":                               {Strategy: "bitlog", Bits: 16},
		"strategy=bitlog,bits=0":                                {Strategy: "bitlog", Bits: -1},
		"steps=64,align=4KiB":                                   {Steps: 64, Align: 4096},
		"strategy=slab,miss_target=0.05":                        {Strategy: "slab", MissTarget: 0.05},
		"strategy=slab,reserve=2MiB":                            {Strategy: "slab", Reserve: "2MiB"},
		"strategy=slab,reserve=learned:a,b":                     {Strategy: "slab", Reserve: "learned:a,b"},
		"max_bytes=4GiB,max_held=5KiB":                          {MaxBytes: 4 << 30, MaxHeld: 5 << 10},
		"device=mmap,align=2MiB,max_held=12.5%":                 {Device: "mmap", Align: 2 << 20, HeldShare: 0.125},
		"trim_after=none,idle=keep":                             {TrimAfter: -1, Idle: -1},
		"max_held=0,max_held_blocks=0":                          {MaxHeld: -1, MaxHeldBlocks: -1},
		"strategy=exact,max_held_blocks=7,max_block_bytes=3MiB": {Strategy: "exact", MaxHeldBlocks: 7, MaxBlockBytes: 3 << 20},
		"max_held_blocks=none,max_block_bytes=none":             {MaxHeldBlocks: math.MaxInt, MaxBlockBytes: math.MaxInt64},
		"cache_bytes=1000,trim_after=1m30s":                     {CacheBytes: 1000, TrimAfter: 90 * time.Second},
		"cache_bytes=0,on_forget=free,gc_trigger=0":             {CacheBytes: -1, OnForget: "free", GCTrigger: -1},
		"device=mmap,gc_trigger=1TiB":                           {Device: "mmap", GCTrigger: 1 << 40},
		"name=http in,on_forget=report":                         {Name: "http in", OnForget: "report"},
		"zero=true,strict=true":                                 {Zero: true, Strict: true},
		"strict=true,check=true":                                {Check: true, Strict: true},
		"check=true,record=a,b.csv":                             {Check: true, Record: "a,b.csv"},
		"record_last=9,record_sites=true":                       {RecordLast: 9, RecordSites: true},
	} {
		c, err := ParseConfig(line)
		object, _ := json.Marshal(c)
		var again Config
		if err := errors.Join(err, json.Unmarshal(object, &again)); err != nil || c != want || again != want || c.String() != line {
			t.Errorf("%q is %+v, written %s and %s, %v", line, c, c, object, err)
		}
	}
	if c, err := ParseConfig("reserve=none,max_bytes=none,max_held=none,guard=none,profile_rate=none"); err != nil || c != (Config{}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// The bounds of a range are within it.
func TestBoundsOfValues(t *testing.T) {
	for line, good := range map[string]bool{
		"align=8": true, "align=4": false, "device=mmap,align=2MiB": true, "device=mmap,align=4MiB": false,
		"strategy=slab,miss_target=1": true, "strategy=slab,miss_target=1.01": false, "strategy=slab,miss_target=2": false,
		"max_held_blocks=1": false, "strategy=exact,max_held_blocks=1": true, "strategy=slab,reserve=1MiB,max_bytes=1MiB": true,
		"strategy=slab,reserve=1MiB,max_held=1MiB": true, "strategy=slab,reserve=1MiB,max_held=1048575": false,
		"guard=1": true, "guard=0": false, "profile_rate=0": true, "profile_rate=1": true, "max_bytes=100%": true, "max_bytes=101%": false,
		"trim_after=none": true, "trim_after=-1ns": false, "idle=keep": true, "idle=-1ns": false, "idle=-2ns": false,
	} {
		if c, err := ParseConfig(line); (err == nil) != good || c.Guard > 1 || c.ProfileRate > 1 {
			t.Errorf("%s: %+v, %v", line, c, err)
		}
	}
	if c, _ := ParseConfig("profile_rate=0"); c.ProfileRate != 0 {
		t.Errorf("profile_rate=0 is %d", c.ProfileRate)
	}
}

// The pages that a Config asks for name the device.
func TestPagesNameTheDevice(t *testing.T) {
	for c, want := range map[Config]string{
		{}: "heap", {Device: "mmap"}: "mmap", {Device: "mmap", Pages: "huge"}: "mmap:huge", {Device: "mmap:small", Pages: "small"}: "mmap:small",
		{Device: "sim:1GiB"}: "sim:1GiB",
	} {
		if got := c.deviceName(); got != want {
			t.Errorf("%+v opens %s, want %s", c, got, want)
		}
	}
}

// What one strategy alone has may follow its name. It is written as a key of its own.
func TestAStrategysOptionFollowsItsName(t *testing.T) {
	for line, want := range map[string]Config{
		"strategy=bitlog:2":                        {Strategy: "bitlog", Bits: 2},
		"strategy=bitlog:0":                        {Strategy: "bitlog", Bits: -1},
		"strategy=sizeclass:8":                     {Strategy: "sizeclass", Steps: 8},
		"strategy=bestfit:2%":                      {Strategy: "bestfit", MissTarget: 0.02},
		"strategy = bitlog : 2 ":                   {Strategy: "bitlog", Bits: 2},
		"device=mmap,strategy=slab:0.5":            {Device: "mmap", Strategy: "slab", MissTarget: 0.5},
		`{"strategy": "bitlog:2", "zero": "true"}`: {Strategy: "bitlog", Bits: 2, Zero: true},
	} {
		c, err := ParseConfig(line)
		if again, _ := ParseConfig(c.String()); err != nil || c != want || again != want {
			t.Errorf("%s is %+v, written %s, %v", line, c, c, err)
		}
	}
	for line, want := range map[string]string{
		"strategy=bitlog:99":       "bits=99: want 1 to 16 or 0",
		"strategy=bitlog:":         "strategy=bitlog:: want ",
		"strategy=direct:4":        "strategy=direct:4: want ",
		"strategy=bitlog:2,bits=4": "bits=4: bits is given twice",
	} {
		if _, err := ParseConfig(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestEveryValueOutOfRangeIsNamed(t *testing.T) {
	const want = `device=: want a name for device.Open
miss_target=0: want a share above 0 and up to 1 (1% is 0.01)
max_bytes=0: want a size of 1 byte or more or a share up to 100% or none
max_held=-1: want a size or a share up to 100% or 0 or none
max_held_blocks=-1: want 1 block or more or 0 or none
max_block_bytes=0: want a size of 1 byte or more or none
cache_bytes=-1: want a size or 0
name=: want 1 to 200 bytes of printable characters
on_forget=: want return, free, report
gc_trigger=-1: want a size or 0
zero=2: want true or false
record=: want a file name
record_last=0: want 1 to 2147483647
record_sites=yes: want true or false
idle=0: want a positive duration like 30s or keep
strategy=best: want direct, exact, bitlog, sizeclass, bestfit, slab
bits=17: want 1 to 16 or 0
steps=3: want a power of two, 1 to 64
align=3: want a power of two, 8 to 2MiB
reserve=0: want a size or learned:FILE or none
trim_after=-1s: want a positive duration like 30s or none`
	c, err := ParseConfig(strings.TrimSuffix(regexp.MustCompile(`: .*\n?`).ReplaceAllString(want, ","), ","))
	var e *ConfigError
	if !errors.As(err, &e) || c != (Config{}) || strings.Join(e.Faults, "\n") != want {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestKeysWithoutUse has a stack and the keys that it has no use for.
func TestKeysWithoutUse(t *testing.T) {
	const all = "bits=4,steps=4,align=64,miss_target=1%,reserve=1MiB," +
		"max_held=1GiB,max_held_blocks=4,max_block_bytes=1GiB,cache_bytes=1MiB,trim_after=1s,idle=1s,gc_trigger=1GiB"
	for stack, want := range map[string]string{
		"device=mmap,strategy=direct":    "bits steps align miss_target reserve max_held max_held_blocks max_block_bytes cache_bytes trim_after idle",
		"device=mmap,strategy=exact":     "bits steps align miss_target reserve cache_bytes",
		"device=mmap,strategy=bitlog":    "steps align miss_target reserve cache_bytes",
		"device=mmap,strategy=sizeclass": "bits miss_target reserve max_held_blocks",
		"device=mmap,strategy=bestfit":   "bits steps max_held_blocks max_block_bytes",
		"device=mmap,check=true":         "bits steps max_held_blocks max_block_bytes cache_bytes",
		"device=mmap,record=x":           "bits steps max_held_blocks max_block_bytes",
		"device=heap":                    "bits miss_target reserve max_held_blocks gc_trigger",
	} {
		var got []string
		for pair := range strings.SplitSeq(all, ",") {
			if _, err := ParseConfig(stack + "," + pair); err != nil {
				got = append(got, pair[:strings.Index(pair, "=")])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has no use for %s", stack, got)
		}
		if _, err := ParseConfig(stack + ",cache_bytes=0,max_held=0,max_held_blocks=0,gc_trigger=0"); err != nil {
			t.Error("turning off is of use everywhere:", err)
		}
	}
}

func TestDefaults(t *testing.T) {
	for line, want := range map[string]string{
		"":                    "device=heap,strategy=sizeclass,steps=4,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return",
		"device=mmap":         "device=mmap,strategy=slab,align=16,miss_target=0.01,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return,gc_trigger=64MiB",
		"device=virtual:1GiB": "device=virtual:1GiB,strategy=slab,align=16,miss_target=0.01,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return,gc_trigger=0",
		"strategy=bestfit":    "device=heap,strategy=bestfit,align=64,miss_target=0.01,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return",
		"strategy=bitlog":     "device=heap,strategy=bitlog,bits=4,cache_bytes=0,trim_after=10s,idle=10s,on_forget=return",
		"strategy=exact":      "device=heap,strategy=exact,max_held_blocks=100,max_block_bytes=1GiB,cache_bytes=0,trim_after=10s,idle=10s,on_forget=return",
		"strategy=direct":     "device=heap,strategy=direct,cache_bytes=0,on_forget=return",
		"check=true":          "device=heap,strategy=sizeclass,steps=4,cache_bytes=0,trim_after=10s,idle=10s,on_forget=return,check=true",
		"record=x":            "device=heap,strategy=sizeclass,steps=4,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return,record=x",
		"record_last=9":       "device=heap,strategy=sizeclass,steps=4,cache_bytes=64MiB,trim_after=10s,idle=10s,on_forget=return,record_last=9",
	} {
		c, err := ParseConfig(line)
		got := c.withDefaults()
		if err := errors.Join(err, got.Validate()); err != nil || got.String() != want || got.withDefaults() != got {
			t.Errorf("defaults of %s are\n%s, want\n%s, %v", line, got, want, err)
		}
	}
}

func TestUnmarshalJSONReplacesAllOrNothing(t *testing.T) {
	c, want := Config{Strict: true}, Config{Zero: true}
	if err := json.Unmarshal([]byte(`{"zero":true}`), &c); err != nil || c != want {
		t.Errorf("%v, %v", c, err)
	}
	for _, text := range []string{`"strict=true"`, `{"strict":true,"zeros":true}`} {
		var e *ConfigError
		if err := json.Unmarshal([]byte(text), &c); !errors.As(err, &e) || c != want {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
}

func TestConfigFromEnv(t *testing.T) {
	for text, want := range map[string]Config{"": {}, "strict=true": {Strict: true}, "strict=2": {}} {
		t.Setenv("BUFSLAB_CONF", text)
		c, err := ConfigFromEnv()
		var e *ConfigError
		if c != want || errors.As(err, &e) != (text == "strict=2") || err != nil && !strings.Contains(err.Error(), "BUFSLAB_CONF") {
			t.Errorf("%q: %v, %v", text, c, err)
		}
	}
}
