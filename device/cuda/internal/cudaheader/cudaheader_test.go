package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRepairPutsVersionsBack(t *testing.T) {
	header := repaired(t)
	for _, line := range []string{"#define cuMemAlloc cuMemAlloc_v2", "#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3", "#define CU_TRSF_SRGB 0x10"} {
		if !strings.Contains(header, line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	if strings.Contains(header, "__ctype_get_mb_cur_max") {
		t.Error("the C library's own header is still in it")
	}
}

// A program that is linked to a name without its version has 32-bit addresses.
func TestProgramsAreLinkedToVersions(t *testing.T) {
	names := functions(repaired(t))
	for _, name := range []string{"cuMemAlloc", "cuMemcpyHtoDAsync", "cuStreamDestroy"} {
		if slices.Contains(names, name) || !slices.Contains(names, name+"_v2") {
			t.Errorf("%s is linked to as such", name)
		}
	}
	for _, name := range []string{"cuInit", "cuMemAllocManaged", "cuMemFreeHost"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s", name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("names are not sorted, or repeat")
	}
}

func TestRepairRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{"", "int x;", start + "\nCUresult cuInit(unsigned int Flags);\n"} {
		if _, err := repair(text); err == nil {
			t.Errorf("%q was repaired", text)
		}
	}
}

func TestToolkitsThatCanBeUsed(t *testing.T) {
	for text, want := range map[string]bool{
		"#define CUDA_VERSION 11000\n":   true,
		"\n#define CUDA_VERSION 12090\n": true,
		"#define CUDA_VERSION 10020\n":   false,
		"#define CUDA_VERSION 13000\n":   false,
		"":                               false,
	} {
		if usable(text) != want {
			t.Errorf("a header with %q can be used: %v", text, !want)
		}
	}
}

// A toolkit is used instead, if its header can be used and it can be linked with.
func TestToolkitIsFound(t *testing.T) {
	root := t.TempDir()
	header := filepath.Join(root, "include", "cuda.h")
	t.Setenv("CUDA_HOME", root)
	finds := func(what string, want bool) toolkit {
		t.Helper()
		k, found := findToolkit()
		if here := k.include == filepath.Dir(header); here != want || found != (k != toolkit{}) {
			t.Errorf("%s: %v, found: %v", what, k, found)
		}
		return k
	}
	must(t, write(header, "#define CUDA_VERSION 12040\n"))
	finds("no library", false)
	must(t, write(filepath.Join(root, "lib64/stubs/libcuda.so"), ""))
	if k := finds("a toolkit", true); !strings.Contains(k.environment(), "-I"+k.include) {
		t.Error(k.environment())
	}
	must(t, write(header, "#define CUDA_VERSION 13000\n"))
	finds("a toolkit that cannot be used", false)
	must(t, os.Remove(header))
	finds("no header", false)
}

// The command prints the environment of a toolkit that is there, and writes nothing then.
func TestCommandPrefersAToolkit(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "new")
	must(t, write(filepath.Join(root, "include/cuda.h"), "#define CUDA_VERSION 12040\n"))
	must(t, write(filepath.Join(root, "lib64/stubs/libcuda.so"), ""))
	t.Setenv("CUDA_HOME", root)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must(t, err)
	args, stdout := os.Args, os.Stdout
	os.Args, os.Stdout = []string{"cudaheader", dir}, out
	main()
	os.Args, os.Stdout = args, stdout
	must(t, out.Close())
	text, err := os.ReadFile(out.Name())
	must(t, err)
	if k, _ := findToolkit(); string(text) != k.environment() {
		t.Errorf("%s", text)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
}

// What is written is what a compiler takes, and a library that says no to everything.
func TestGenerate(t *testing.T) {
	repaired(t)
	if _, err := exec.LookPath(compiler()); err != nil {
		t.Skipf("there is no C compiler: %v", err)
	}
	k, err := generate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "main.c")
	program := strings.TrimSuffix(source, ".c")
	must(t, write(source, "#include <cuda.h>\nint main(void) { CUdeviceptr p; return cuMemAlloc(&p, 1) == CUDA_ERROR_NO_DEVICE ? 0 : 1; }\n"))
	must(t, run(compiler(), "-Wall", "-Werror", "-Wno-deprecated-declarations", "-I"+k.include, source, "-o", program, "-L"+k.lib, "-lcuda"))
	must(t, os.Link(filepath.Join(k.lib, "libcuda.so"), filepath.Join(k.lib, "libcuda.so.1")))
	t.Setenv("LD_LIBRARY_PATH", k.lib)
	must(t, run(program))
}

// repaired is the header that is generated, or skips where the module is not there.
func repaired(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("go", "mod", "download", "gorgonia.org/cu").CombinedOutput(); err != nil {
		t.Skipf("module cu cannot be had: %v: %s", err, out)
	}
	original, err := source()
	must(t, err)
	header, err := repair(original)
	must(t, err)
	return header
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
