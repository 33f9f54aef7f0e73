package vet

import "testing"

// A package that a module has a copy of is known by the path that it has elsewhere.
func TestUnvendored(t *testing.T) {
	for path, want := range map[string]string{
		"net/http":                       "net/http",
		"a.example/b/vendor/c.example/d": "c.example/d",
		"a.example/vendor/b/vendor/c":    "c",
		"/vendor/c":                      "c",
	} {
		if got := unvendored(path); got != want {
			t.Errorf("unvendored(%q) = %q, want %q", path, got, want)
		}
	}
}
