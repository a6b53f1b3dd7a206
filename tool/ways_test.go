package tool

import "testing"

// Actor is the actor, for the way that needs packages which need this one.
type Actor = actor

// AddWay adds a way in which a tool is called and asks back.
func AddWay(name string, call func(t *testing.T, server *Server, a *Actor, tool, arguments string) (string, error)) {
	ways = append(ways, way{name, call})
}
