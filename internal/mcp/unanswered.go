package mcp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// In 2026-07-28 a server asks by its result, and a client that has no answer just
// does not come back: the server never learns why, nor that nobody waits any more.
// A server that wants to know says so in the result's _meta, and is told in place
// of the answer.

// Keys of _meta.
const (
	MetaErrors = "parley/errors" // of a result that asks for input: true where errors are taken for answers
	MetaError  = "parley/error"  // of an answer: there is none, and this error of JSON-RPC says why
)

// GivenUp is the name of an answer, to no question, which says that nobody waits
// for the call any more. Who answers questions gives answers and no names, so that
// only who makes the call can say it.
const GivenUp = "parley/given-up"

// TakesErrors reports whether a result that asks for input says that its server
// wants to know what got no answer.
func TakesErrors(result jsontext.Value) bool {
	return string(parley.Member(parley.Member(result, "_meta"), MetaErrors)) == "true"
}

// Unanswered stands in inputResponses for an answer that there is not.
func Unanswered(why *jsonrpc.Error) jsontext.Value {
	return SetMeta(nil, MetaError, why.JSON())
}

// ReadUnanswered is the error in an answer; nil where it is one.
func ReadUnanswered(answer jsontext.Value) *jsonrpc.Error {
	if answer.Kind() != '{' {
		return nil
	}
	why := parley.Member(parley.Member(answer, "_meta"), MetaError)
	if why.Kind() != '{' {
		return nil
	}
	return jsonrpc.ReadError(why)
}

// GiveUp are the params of a round which says that nobody waits for a call any
// more whose result asks for input; nil where its server does not want to know, or
// would take it for a new call.
func GiveUp(params, result jsontext.Value) jsontext.Value {
	if !TakesErrors(result) || parley.Member(result, "requestState") == nil {
		return nil
	}
	return NextRound(params, result, jsontext.Value(`{"`+GivenUp+`":{}}`))
}

// GivesUp reports whether params are those of such a round.
func GivesUp(params jsontext.Value) bool {
	return parley.Member(parley.Member(params, "inputResponses"), GivenUp) != nil
}

// NextRound are the params that go on with a call whose result asked for input.
func NextRound(params, result, answers jsontext.Value) jsontext.Value {
	params = SetMember(params, "inputResponses", answers)
	if state := parley.Member(result, "requestState"); state != nil {
		return SetMember(params, "requestState", state)
	}
	return DropMember(params, "requestState")
}
