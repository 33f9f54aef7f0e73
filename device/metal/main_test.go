package metal

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/device/metal/internal/double"
)

// The tests run on a Mac's GPUs, or else on a double that is built here.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // pools on deferred memory would each log that they are
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "metal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := double.Build(filepath.Join("internal", "double", "driver"), dir); err != nil {
		fmt.Println(err) // and Open says what is missing
	}
	return m.Run()
}
