package httpbody_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/iobuf/httpbody"
	"github.com/bufslab/bufslab/slab"
)

func ExampleSet() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" { // the client sends the body again
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			return
		}
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s, %d bytes", text, r.ContentLength)
	}))
	defer s.Close()

	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b := iobuf.New(p)
	defer b.Release()
	b.WriteString("hello, server")
	body, err := b.Body()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer body.Close() // when Do has returned, and not before
	req, _ := http.NewRequest("POST", s.URL, nil)
	if err := httpbody.Set(req, body); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Printf("%s %v\n", text, err)
	// Output: hello, server, 13 bytes <nil>
}
