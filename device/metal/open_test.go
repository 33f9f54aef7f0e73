package metal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for _, name := range []string{"metal:", "metal:9", "metal:-1", "metal:x", "metal:0:", "metal:0:what", "metal:0:private:private", "metal:0:pinned:pinned", "metal:4294967296"} {
		d, err := device.Open(name)
		if err == nil {
			t.Errorf("%s opened %s", name, d.Name())
		}
		check.Wraps(t, err, device.ErrUnavailable)
	}
}

// The number behind the last GPU's is none.
func TestOpenKnowsHowManyThereAre(t *testing.T) {
	needsGPU(t)
	n := len(check.Ok(Devices())(t))
	_, err := device.Open(fmt.Sprintf("metal:%d", n))
	if check.Wraps(t, err, device.ErrUnavailable); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("only 0 to %d:", n-1)) {
		t.Error(err)
	}
}

// Without Metal, and on linux without a double, the sentence says so.
func TestWithoutMetal(t *testing.T) {
	t.Setenv("BUFSLAB_METAL_DOUBLE", "")
	if _, err := load(); err != nil {
		check.Wraps(t, err, device.ErrUnavailable)
		if !strings.Contains(err.Error(), "on macOS only") {
			t.Error(err)
		}
	}
	t.Setenv("BUFSLAB_METAL_DOUBLE", "/there is no such library")
	if _, err := load(); err != nil {
		check.Wraps(t, err, device.ErrUnavailable)
	}
}

// A device frees its own blocks only, not those of another of the same GPU.
func TestFreeIsOfTheDevice(t *testing.T) {
	d := opened(t, "metal:0")
	b := allocated(t, d, 100)
	check.Panics(t, "a block of another device", func() { pinnedOf(t, d).Free(b) })
	check.Panics(t, "a block of the heap", func() { d.Free(device.Host(make([]byte, 100))) })
}

// The default GPU is the first, whatever the order of the list.
func TestDevicesDescribes(t *testing.T) {
	needsGPU(t)
	infos := check.Ok(Devices())(t)
	for i, info := range infos {
		t.Log(info)
		if info.Device == "" || info.RecommendedBytes <= 0 || info.MaxBytes <= 0 {
			t.Errorf("%+v", info)
		}
		if d := opened(t, info.Name); d.Info() != info || d.Handle() == 0 {
			t.Errorf("%s is %+v", info.Name, d.Info())
		}
		for _, other := range infos[:i] {
			if other.Name == info.Name {
				t.Errorf("two GPUs are %s", info.Name)
			}
		}
	}
	if needsDouble(t); len(infos) != 2 || infos[0].String() != "metal:0: Metal double 0, unified memory" || infos[1].Device != "Metal double 1" {
		t.Errorf("%v", infos)
	}
}

func TestNoGPU(t *testing.T) {
	set(t, "DEVICES", 0)
	_, err := list(check.Ok(load())(t))
	check.Wraps(t, err, device.ErrUnavailable)
}

// Where CPU and GPU have the same memory metal:0 is of it, else it is the GPU's.
func TestKindsOfMemory(t *testing.T) {
	for _, unified := range []int{1, 0} {
		set(t, "UNIFIED", unified)
		found := anew(t)
		for rest, reached := range map[string]bool{"": unified == 1, "0": unified == 1, "0:private": false} {
			d := check.Ok(openOn(found, rest))(t)
			b := allocated(t, d, 10)
			if got := device.Bytes(b) != nil; got != reached || d.Traits().Shared != reached {
				t.Errorf("unified %d: the CPU reaches %q: %t, and traits are %+v", unified, d.Name(), got, d.Traits())
			}
			if device.Bytes(allocated(t, pinnedOf(t, d), 10)) == nil {
				t.Errorf("unified %d: the CPU does not reach pinned memory", unified)
			}
			if want := map[int]int{1: 16, 0: 256}[unified]; d.Traits().Align != want || !d.Traits().Deferred {
				t.Errorf("unified %d: %+v", unified, d.Traits())
			}
			if a, ok := b.Region.(*Buffer); !ok || a.Handle() == 0 {
				t.Error("a region has no MTLBuffer")
			}
		}
	}
}

// The kinds of memory of one GPU copy among each other, words and bytes; those of two where
// the CPU reaches both.
func TestKindsCopyAmongEachOther(t *testing.T) {
	const n = 5000
	all := append([]string{"metal:1", "heap", "mmap"}, names...)
	d, s := opened(t, "metal:0"), streamOn(t, opened(t, "metal:0"))
	if len(check.Ok(Devices())(t)) < 2 {
		all = all[1:]
	}
	for i, from := range all {
		a := allocated(t, check.Ok(device.Open(from))(t), n)
		for k, to := range all {
			b := allocated(t, check.Ok(device.Open(to))(t), n)
			for _, c := range [][3]int{{n, 0, 0}, {n - 8, 4, 8}, {n - 7, 7, 0}, {n - 9, 0, 9}, {1, 5, 2}, {3, 4, 4}} {
				want := devcheck.Pattern(n, i+k)
				devcheck.Write(t, d, a, want)
				devcheck.Write(t, d, b, make([]byte, n))
				check.Must(t, s.Copy(devcheck.Part(b, c[1], c[0]), devcheck.Part(a, c[2], c[0])), s.Sync())
				after := make([]byte, n)
				copy(after[c[1]:], want[c[2]:c[2]+c[0]])
				check.Same(t, devcheck.Read(t, d, b), after, from+" to "+to)
			}
		}
	}
	if len(check.Ok(Devices())(t)) > 1 {
		away := allocated(t, check.Ok(device.Open("metal:1:private"))(t), n)
		check.Wraps(t, d.Copy(allocated(t, d, n), away), device.ErrUnavailable)
	}
}
