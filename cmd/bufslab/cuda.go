//go:build cuda

package main

import _ "github.com/bufslab/bufslab/device/cuda" // for its scheme
