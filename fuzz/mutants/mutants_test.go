package main

import "testing"

// The list is in step with the source: each text is there once, and changes.
func TestMutantsAreInTheSource(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all() {
		if names[m.name] {
			t.Errorf("two mutants are named %s", m.name)
		}
		names[m.name] = true
		if _, err := m.mutate("../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if m.old == m.new || m.equivalent == "" && (m.pkg == "" || m.test == "") {
			t.Errorf("%s changes nothing, or nobody is to notice", m.name)
		}
	}
}
