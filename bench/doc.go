// Command bench measures Parley against servers that one would use in its place,
// and against a floor below which nothing can go: the same bytes written by a
// server that does nothing else. The script bench/compare fetches what it needs
// and runs it.
//
// Everything is measured in rounds. A round measures each server once, one after
// the other, so that whatever else the machine does comes to all of them; figures
// are ratios within a round, and what is told of them is the median and the
// spread. A server has one core for itself, the load the others. Each measurement
// has a fresh server.
package main
