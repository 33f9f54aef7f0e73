// Command cudaheader lets package cuda be built without a CUDA toolkit. It
// writes a header and a stub of the driver's library to a directory and prints
// the environment that makes cgo find them:
//
//	eval "$(go run ./device/cuda/internal/cudaheader .cuda)"
//	go vet -tags cuda ./device/cuda/...
//
// Where there is a toolkit of CUDA 11 or 12 nothing is written, and the
// environment is the toolkit's. What is built either way runs on the driver
// of the machine that it is started on.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("the only argument is the directory to write to"))
	}
	dir, err := filepath.Abs(os.Args[1])
	if err != nil {
		fail(err)
	}
	kit, found := findToolkit()
	if !found {
		if kit, err = generate(dir); err != nil {
			fail(err)
		}
	}
	fmt.Print(kit.environment())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "cudaheader:", err)
	os.Exit(1)
}

// generate writes DIR/include/cuda.h and DIR/lib/libcuda.so.
func generate(dir string) (toolkit, error) {
	kit := toolkit{include: filepath.Join(dir, "include"), lib: filepath.Join(dir, "lib")}
	original, err := source()
	if err != nil {
		return kit, err
	}
	header, err := repair(original)
	if err != nil {
		return kit, err
	}
	if err := write(filepath.Join(kit.include, "cuda.h"), header); err != nil {
		return kit, err
	}
	stub := filepath.Join(kit.lib, "stub.c")
	if err := write(stub, stubOf(functions(header))); err != nil {
		return kit, err
	}
	return kit, run(compiler(), "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o",
		filepath.Join(kit.lib, "libcuda.so"), stub)
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// source returns the header that module cu has its own code made from.
func source() (string, error) {
	// Without the download the module has no directory.
	if err := run("go", "mod", "download", "gorgonia.org/cu"); err != nil {
		return "", err
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/cu").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m gorgonia.org/cu: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "cmd/genlib/cuda.h"))
	return string(text), err
}

// compiler is what cgo would use.
func compiler() string {
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return "cc"
	}
	return strings.TrimSpace(string(cc))
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
