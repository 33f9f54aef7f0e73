// Package double builds the double of Metal in directory driver, and controls it where a
// program runs on it. Package metal's tests are its only user.
package double

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Variable of the environment names the library for package metal.
const Variable = "BUFSLAB_METAL_DOUBLE"

// Build compiles the double from the source in directory driver to a library in dir, and sets Variable. Where
// that is set already it does nothing. The error says why there is no double: this is
// not linux, or there is no C compiler.
func Build(driver, dir string) error {
	if os.Getenv(Variable) != "" {
		return nil
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("double: this is %s, and the double is one for linux", runtime.GOOS)
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return fmt.Errorf("double: there is no C compiler: %w", err)
	}
	sources, err := filepath.Glob(filepath.Join(driver, "*.c"))
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("double: no source in %s: %w", driver, err)
	}
	library := filepath.Join(dir, "libmetaldouble.so")
	args := append([]string{"-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library}, sources...)
	if out, err := exec.Command(compiler, append(args, "-lpthread")...).CombinedOutput(); err != nil {
		return fmt.Errorf("double: %w\n%s", err, out)
	}
	return os.Setenv(Variable, library)
}
