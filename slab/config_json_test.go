package slab

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// JSON cannot hold a name of a file that is not UTF-8: MarshalJSON refuses it, and names the key. A line holds it.
func TestJSONOfANameThatIsNotUTF8(t *testing.T) {
	for _, c := range []Config{{Record: "a\xffb.csv"}, {Strategy: "bestfit", Reserve: "learned:a\xffb"}, {Device: "\xff"}} {
		var faults *ConfigError
		if text, err := json.Marshal(c); !errors.As(err, &faults) || !strings.Contains(err.Error(), `\xff`) || text != nil {
			t.Errorf("%+v is %s, %v", c, text, err)
		}
	}
	c := Config{Record: "a\xffb.csv"}
	if back, err := ParseConfig(c.String()); err != nil || back != c {
		t.Errorf("%q is read as %+v, %v", c.String(), back, err)
	}
	c = Config{Record: "ä\u2028.csv"}
	if back, err := ParseConfig(string(check.Ok(json.Marshal(c))(t))); err != nil || back != c {
		t.Errorf("%+v, %v", back, err)
	}
}
