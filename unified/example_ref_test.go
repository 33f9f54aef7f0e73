package unified_test

import (
	"encoding/json"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// Large data is not serialized: the message has a reference to the array, and opens to the same memory
// on both sides.
func ExampleBuffer_Ref() {
	d, _ := device.Open("sim")
	type request struct {
		Buffer unified.Ref[int32]
		Offset int
		Size   int
	}
	b, _ := unified.New[int32](d, 1_000_000)
	defer b.Free()
	_ = b.Fill(3)
	message, _ := json.Marshal(request{Buffer: b.Ref(), Offset: 10, Size: 4})
	fmt.Println("the message is short:", len(message) < 100)

	var got request
	_ = json.Unmarshal(message, &got)
	array, err := got.Buffer.Get()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer array.Free()
	part, _ := array.View(got.Offset, got.Offset+got.Size)
	elements, _ := part.ToSlice()
	fmt.Println(array.Shape(), elements)
	// Output:
	// the message is short: true
	// [1000000] [3 3 3 3]
}
