package slab_test

import (
	"encoding/json"
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

// A queue of JSON messages passes a reference instead of a million bytes.
func ExamplePooledBuffer_Ref() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	type job struct {
		Name string
		Body slab.Ref
	}
	body, _ := p.Get(1_000_000)
	copy(body.Bytes(), "hello")
	message, _ := json.Marshal(job{"greet", body.Ref()})
	fmt.Println("the message is short:", len(message) < 100)

	var got job
	json.Unmarshal(message, &got)
	b, err := got.Body.Get()
	fmt.Printf("%d bytes, %s, %v\n", b.Len(), b.Bytes()[:5], err)
	b.Release()

	body.Release()
	_, err = got.Body.Get()
	fmt.Println(err)
	// Output:
	// the message is short: true
	// 1000000 bytes, hello, <nil>
	// slab: PooledBuffer released already
}

// An index of buffers that others own: an entry keeps nothing, and says when its buffer has gone.
func ExampleRef_Get() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	index := map[string]slab.Ref{}
	for _, name := range []string{"ann", "bob"} {
		b, _ := p.Get(len(name))
		copy(b.Bytes(), name)
		index[name] = b.Ref()
		if name == "bob" {
			b.Release()
			continue
		}
		defer b.Release()
	}
	for _, name := range []string{"ann", "bob", "eve"} {
		b, err := index[name].Get()
		if err != nil {
			fmt.Println(name, "is not there any more")
			continue
		}
		fmt.Printf("%s: %s\n", name, b.Bytes())
		b.Release()
	}
	// Output:
	// ann: ann
	// bob is not there any more
	// eve is not there any more
}

// Text that is no Ref is told from a Ref whose buffer is not there.
func ExampleParseRef() {
	_, err := slab.ParseRef("slabref-1")
	fmt.Println(err)
	r, err := slab.ParseRef("slabref-0123456789abcdef-2a")
	fmt.Println(r, err)
	_, err = r.Get()
	fmt.Println(err)
	// Output:
	// slab: "slabref-1" is not the text of a Ref
	// slabref-0123456789abcdef-2a <nil>
	// slab: PooledBuffer released already
}
