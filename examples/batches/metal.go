//go:build metal

package main

import _ "github.com/bufslab/bufslab/device/metal" // its devices have names
