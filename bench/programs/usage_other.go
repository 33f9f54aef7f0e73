//go:build !unix

package main

import "errors"

func usageNow() (usage, error) {
	return usage{}, errors.New("this system does not tell what a process has used: programs run on unix")
}
