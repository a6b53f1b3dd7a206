// Package inproc is a network within one process: a listener whose connections
// are buffers. What runs beside a gateway (bridges, the front of /mcp) talks to it
// as everybody does, without the system in between.
//
//	l := inproc.Listen()
//	go server.Serve(l)
//	client := &http.Client{Transport: &http.Transport{DialContext: l.DialContext}}
//
// # Concurrency
//
// Everything may be called from any goroutine. Nothing here has goroutines of
// its own.
package inproc
