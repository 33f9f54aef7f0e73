package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

// uploads are read as a whole, by a server that believes no Content-Length, and answered by
// their checksum.
func uploads(j *job) error {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := j.buffer()
		defer j.done(b)
		if _, err := b.ReadFrom(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "%08x", sum(b.Bytes()))
	}))
	defer s.Close()
	const clients = 6
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer web.CloseIdleConnections()
	return j.each(clients, func(c *client) error {
		body := some(noise(), c.Rand, between(c.Rand, 256<<10, 3<<20))
		r, err := web.Post(s.URL, "application/octet-stream", bytes.NewReader(body))
		if err != nil {
			return err
		}
		got, err := io.ReadAll(r.Body)
		if want := fmt.Sprintf("%08x", sum(body)); err == nil && string(got) != want {
			err = wrong(string(got), want)
		}
		return errors.Join(err, r.Body.Close())
	})
}
