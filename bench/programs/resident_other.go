//go:build !linux

package main

import "errors"

func residentNow() (float64, error) {
	return 0, errors.New("this system does not tell what is resident now: -settle needs Linux")
}
