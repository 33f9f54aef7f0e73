package slab

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// Any text is a Config or an error that names what is wrong, and takes nothing. What is
// valid means the same as a line, as JSON, and once defaults have been filled in.
func FuzzParseConfig(f *testing.F) {
	f.Add("device=mmap,strategy=slab,max_bytes=4GiB,max_held=1GiB,trim_after=30s")
	f.Add(`{"strategy":"bitlog","bits":3,"max_held":"none","zero":true}`)
	f.Add("strategy=exact,max_held_blocks=-1,max_block_bytes=1e3")
	f.Add("device=sim:8GiB:late=1,on_forget=report,reserve=1MiB,miss_target=0.5%")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig(text)
		if err != nil {
			if !reflect.DeepEqual(c, Config{}) || strings.TrimSpace(err.Error()) == "" {
				t.Errorf("%+v beside %v", c, err)
			}
			return
		}
		if !utf8.ValidString(text) { // as JSON is
			return
		}
		line, err := ParseConfig(c.String())
		if err != nil || !reflect.DeepEqual(line, c) {
			t.Errorf("%q is %+v, its line %q %+v, %v", text, c, c.String(), line, err)
		}
		object, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseConfig(string(object)); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%q is %+v, its JSON %s %+v, %v", text, c, object, back, err)
		}
		if full := c.withDefaults(); !reflect.DeepEqual(full.withDefaults(), full) {
			t.Errorf("defaults of defaults: %+v, %+v", full, full.withDefaults())
		}
		if c.Explain() == "" {
			t.Error("nothing to explain")
		}
	})
}
