package refs

import (
	"strings"
	"testing"
)

// A name finds its own value until it is removed, and never another one.
func TestANameIsOfOneValue(t *testing.T) {
	table, other := New[string](), New[string]()
	a, b := table.Add("a"), table.Add("b")
	if v, ok := table.Find(a); !ok || v != "a" {
		t.Errorf("a is %q, %v", v, ok)
	}
	if a == other.Add("a") {
		t.Error("two tables give one name")
	}
	if _, ok := other.Find(a); ok {
		t.Error("a name of one table is good in another one")
	}
	table.Remove(a)
	table.Remove(a)
	table.Remove(Name{})
	if _, ok := table.Find(a); ok || table.Add("c") == a || table.Len() != 2 {
		t.Errorf("a removed name is good, or was given again: %d names", table.Len())
	}
	if v, ok := table.Find(b); !ok || v != "b" {
		t.Errorf("b is %q, %v", v, ok)
	}
}

// A text is read back, and no other spelling of it.
func TestTextsAreReadBack(t *testing.T) {
	for _, n := range []Name{{}, {1, 2}, {0x10, 0xabc}, {^uint64(0), ^uint64(0)}} {
		text := n.Text("ref-")
		if got, ok := Parse("ref-", text); !ok || got != n {
			t.Errorf("%q is read as %v, %v", text, got, ok)
		}
		for _, bad := range []string{"", "ref-", "ref-0", "ref-x-1", "ref-1-x", text + "0", " " + text, strings.ToUpper(text), strings.TrimPrefix(text, "ref-"), strings.Replace(text, "0", "", 1)} {
			if got, ok := Parse("ref-", bad); ok && bad != text && got.Text("ref-") != bad {
				t.Errorf("%q is read as %v", bad, got)
			}
		}
	}
	if _, ok := Parse("other-", Name{1, 2}.Text("ref-")); ok {
		t.Error("the text of another kind is read")
	}
}
