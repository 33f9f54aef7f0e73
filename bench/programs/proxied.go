package main

import (
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
)

const proxyBuffer = 32 << 10 // what ReverseProxy takes by itself

// proxied fetches answers of 64 to 512 KiB through a proxy.
func proxied(j *job) error {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err == nil {
			_, err = w.Write(noise()[:n])
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client sees an answer that is cut off
		}
	}))
	defer origin.Close()
	to, err := url.Parse(origin.URL)
	if err != nil {
		return err
	}
	const clients = 24
	behind := &http.Transport{MaxIdleConnsPerHost: clients}
	defer behind.CloseIdleConnections()
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		BufferPool: j.proxy(proxyBuffer), Transport: behind}
	front := httptest.NewServer(p)
	defer front.Close()
	before := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer before.CloseIdleConnections()
	return j.each(clients, func(c *client) error { return fetch(before, front.URL, between(c.Rand, 64<<10, 512<<10)) })
}

// fetch asks for n bytes.
func fetch(from *http.Client, url string, n int) error {
	r, err := from.Get(url + "/" + strconv.Itoa(n))
	if err != nil {
		return err
	}
	got := crc32.NewIEEE()
	_, err = io.Copy(got, r.Body)
	if want := sum(noise()[:n]); err == nil && got.Sum32() != want {
		err = wrong(got.Sum32(), want)
	}
	return errors.Join(err, r.Body.Close())
}
