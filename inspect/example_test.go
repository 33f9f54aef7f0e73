package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bufslab/bufslab/inspect"
	"github.com/bufslab/bufslab/slab"
)

// A program serves what its pools look like; another one reads it.
func ExampleHandler() {
	uploads := slab.MustOpen("name=uploads,on_forget=report")
	defer uploads.Close()
	mux := http.NewServeMux()
	mux.Handle("/debug/bufslab/", inspect.Handler(uploads))
	server := httptest.NewServer(mux)
	defer server.Close()

	b, _ := uploads.Get(1000)
	reply, err := http.Get(server.URL + "/debug/bufslab/json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reply.Body.Close()
	var pools []inspect.State
	fmt.Println(json.NewDecoder(reply.Body).Decode(&pools))
	for _, p := range pools {
		fmt.Println(p.Name, p.Stats.ActiveBytes, p.Sites[0].Buffers)
	}
	b.Release()
	// Output:
	// <nil>
	// uploads 1000 1
}
