package metal

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The example of batches, a module of its own, runs on the first device as on a simulated one.
func TestBatchesRun(t *testing.T) {
	if os.Getenv("BUFSLAB_METAL") == "" {
		t.Skip("another module is built: test.sh does it")
	}
	needsGPU(t)
	cmd := exec.Command("go", "run", "-tags", "metal", ".", "metal:0")
	cmd.Dir = "../../examples/batches"
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "pool, ") != 2 {
		t.Errorf("%v: %s", err, out)
	} else {
		t.Logf("%s", out)
	}
}
