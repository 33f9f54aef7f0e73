package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

func ExampleParseConfig() {
	c, err := slab.ParseConfig("device=mmap,strategy=slab,max_bytes=4GiB,miss_target=2%,cache_bytes=0")
	fmt.Println(c, err)

	_, err = slab.ParseConfig("strategy=slab,max_bytes=0,bits=4")
	fmt.Println(err)
	// Output:
	// device=mmap,strategy=slab,miss_target=0.02,max_bytes=4GiB,cache_bytes=0 <nil>
	// slab: config: 2 faults: max_bytes=0: want a size of 1 byte or more or a share up to 100% or none; bits=4: strategy slab has no use for it, only bitlog
}

func ExampleConfig_Explain() {
	fmt.Print(slab.Config{MaxBytes: 1 << 30, Strict: true}.Explain())
	// Output:
	// device           heap                      default
	// strategy         sizeclass                 default on heap
	// steps            4                         default
	// align            16 (64 from 64 bytes up)  default of sizeclass
	// max_bytes        1GiB                      set by you
	// max_held         none                      default
	// overflow         none, a Get fails         default
	// max_held_blocks  none                      default
	// max_block_bytes  none                      default
	// cache_bytes      64MiB                     default of sizeclass
	// trim_after       10s                       default
	// idle             10s                       as trim_after
	// pressure         off                       default
	// name             the line of this Config   default
	// on_forget        return                    default
	// zero             false                     default
	// strict           true                      set by you
	// check            false                     default
	// guard            none                      default
	// record           none                      default
	// record_last      none                      default
	// profile_rate     none                      default
}
