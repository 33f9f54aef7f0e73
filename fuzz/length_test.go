package fuzz_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// TestModelsAtLength runs programs on all models until as many steps are done as BUFSLAB_STRESS
// says, the same number on each model:
//
//	BUFSLAB_STRESS=10000000 go test -v -timeout 2h -run TestModelsAtLength ./fuzz
//
// With the seed that it logs as -rapid.seed, a model runs the same programs again. A failure says
// another seed: with that one the first program fails.
func TestModelsAtLength(t *testing.T) {
	most := int64(8000)
	if long := os.Getenv("BUFSLAB_STRESS"); long != "" {
		var err error
		if most, err = strconv.ParseInt(long, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	share := (most + int64(len(models)) - 1) / int64(len(models))
	steps, programs, from := int64(0), 0, time.Now()
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			from, seed := time.Now(), drawSeed(t)
			model.Set(t, "rapid.checks", fmt.Sprint(share)) // after the last step they are empty, and rapid counts them
			n, ran := model.CheckSteps(t, share, m.program)
			steps, programs = steps+n, programs+ran
			t.Logf("%d steps in %d programs, seed %s, %.0f steps a second", n, ran, seed, float64(n)/time.Since(from).Seconds())
			if n < share {
				t.Errorf("the time was over before %d steps: -timeout sets more", share)
			}
		})
	}
	t.Logf("%d steps in %d programs in %v", steps, programs, time.Since(from).Round(time.Second))
}

// drawSeed returns the seed that -rapid.seed or RAPID_SEED says, or sets one.
func drawSeed(t *testing.T) string {
	seed := flag.Lookup("rapid.seed").Value.String()
	if seed == "0" {
		seed = fmt.Sprint(1 + rand.Uint64N(1<<32))
		model.Set(t, "rapid.seed", seed)
	}
	return seed
}
