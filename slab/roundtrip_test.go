package slab

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// wholeLines has each key of a Config at least once, with a value of each of its kinds.
var wholeLines = []string{
	"device=mmap,strategy=bestfit,align=2MiB,miss_target=0.02,pages=huge,reserve=1MiB,max_bytes=75%,max_held=25%,overflow=make," +
		"cache_bytes=1MiB,trim_after=30s,idle=1m0s,pressure=on,name=a,on_forget=report,gc_trigger=1GiB,zero=true,strict=true,guard=9," +
		"record=a.csv,record_last=9,record_sites=true,profile_rate=512KiB",
	"strategy=bitlog,bits=5,max_bytes=1GiB,max_held=1MiB,max_held_blocks=7,max_block_bytes=1MiB,idle=keep",
	"steps=8,align=4KiB,trim_after=none,check=true",
}

// Each key means the same in a line, in a JSON object and in the environment.
func TestEveryKeyInEveryForm(t *testing.T) {
	for i := range reflect.TypeFor[Config]().NumField() {
		f := reflect.TypeFor[Config]().Field(i)
		used := !f.IsExported() || f.Name == "Hooks" || f.Name == "Logger"
		for _, line := range wholeLines {
			c, err := ParseConfig(line)
			if err != nil {
				t.Fatal(err)
			}
			used = used || !reflect.ValueOf(c).Field(i).IsZero()
		}
		if !used {
			t.Errorf("no line has %s", f.Name)
		}
	}
	for _, line := range wholeLines {
		want, _ := ParseConfig(line)
		object, err := json.Marshal(want)
		t.Setenv("BUFSLAB_CONF", line)
		fromEnv, envErr := ConfigFromEnv()
		fromObject, objectErr := ParseConfig(string(object))
		if want.String() != line || err != nil || fromEnv != want || envErr != nil || fromObject != want || objectErr != nil {
			t.Errorf("%s\nis written %s and %s\nand read as %+v, %v and %+v, %v", line, want, object, fromEnv, envErr, fromObject, objectErr)
		}
	}
}

// The name of a switch alone means that it is on, in a line and in the environment.
func TestBareSwitches(t *testing.T) {
	for line, want := range map[string]Config{
		"check":                           {Check: true},
		"device=mmap,check,strict":        {Device: "mmap", Check: true, Strict: true},
		"zero, pressure ,name=a,b,strict": {Zero: true, Pressure: true, Name: "a,b", Strict: true},
		"record=a,record_sites,device=virtual:fixed,64MiB": {
			Record: "a", RecordSites: true, Device: "virtual:fixed,64MiB"},
	} {
		t.Setenv("BUFSLAB_CONF", line)
		c, err := ConfigFromEnv()
		again, _ := ParseConfig(c.String())
		if c != want || err != nil || again != want {
			t.Errorf("%s is %+v, written %s, %v", line, c, c, err)
		}
	}
	for line, want := range map[string]string{
		"zero=true,chek":   `"chek": want key=value or a switch: pressure, zero, strict, check, record_sites`,
		"chek":             `"chek": want key=value or a switch: pressure, `,
		"strict,max_bytes": `"max_bytes": want key=value or `,
		"check,check=true": "check is given twice",
		"check=maybe":      "check=maybe: want true or false",
	} {
		if _, err := ParseConfig(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	c := Config{Record: "a,strict"} // no switch
	if back, err := ParseConfig(c.String()); err != nil || back != c {
		t.Errorf("%s is %+v, %v", c, back, err)
	}
}

// An alignment is a size as others are.
func TestAlignIsASize(t *testing.T) {
	for text, want := range map[string]int{"2MiB": 2 << 20, "4KiB": 4 << 10, "2097152": 2 << 20, "64": 64, "64B": 64, "0.5KiB": 512} {
		if c, err := ParseConfig("device=mmap,align=" + text); err != nil || c.Align != want {
			t.Errorf("align=%s: %d, %v", text, c.Align, err)
		}
	}
	for _, text := range []string{"4KiB8", "3KiB", "4MiB", "8EiB", "0", "-8", "none"} {
		if _, err := ParseConfig("device=mmap,align=" + text); err == nil || !strings.Contains(err.Error(), "want a power of two, 8 to 2MiB") {
			t.Errorf("align=%s: %v", text, err)
		}
	}
}
