package arena

import (
	"strings"

	"github.com/bufslab/bufslab/internal/sidetable"
	"github.com/bufslab/bufslab/slab"
)

// rules are the options of its pool that an Arena follows: with Check it keeps no chunk, with Zero
// it clears a chunk that it keeps.
type rules struct{ check, zero bool }

// rulesOf asks each pool once, as the text takes microseconds.
var rulesOf = sidetable.Table[slab.Pool, rules]{Make: func(p *slab.Pool) *rules {
	r := new(rules)
	for line := range strings.Lines(p.Explain()) {
		switch f := strings.Fields(line); {
		case len(f) < 2 || f[1] != "true":
		case f[0] == "check":
			r.check = true
		case f[0] == "zero":
			r.zero = true
		}
	}
	return r
}}
