// Package store is what a person's console knows of a room, made of the envelopes as
// they come. Pure: no terminal, no network, no clock.
//
//	s := store.New(0)
//	s.Begin("you", people)
//	s.Add(envelope)
//	s.Rows() // what there is to show, oldest first
//
// A row is one thing that happens: a call and its answer are one, and so are a
// proposal, its decision, the call that it became and its result. The newest rows are
// kept, and of each the beginning of its text: all of an envelope is at the gateway,
// by its id. So memory has a bound, whatever participants send.
//
// What participants wrote is kept as they wrote it. Whoever shows it has to make it
// harmless.
package store
