// Package browsertest looks at pages in a browser: that of bufslab report, and that of package
// inspect. It is a module of its own, so that no program inherits what drives the browser.
package browsertest
