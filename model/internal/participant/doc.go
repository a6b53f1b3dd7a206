// Package participant is a participant that is a model: it joins a space and
// answers sampling/createMessage out of the models that it was given.
//
//	err := participant.Run(ctx, participant.Options{Document: document, Models: models, Log: log})
//
// # What becomes of a request
//
//	read → check → choose → reserve → ask, again where that may help → count → answer
//
// A request is read strictly, and its messages are held against the pairing
// rule, before anything is sent to an endpoint. Its hints, then its priorities
// choose among the models ([Order]). Who asks is the envelope's sender, and has
// a budget of requests and of tokens. An error of an endpoint that passes is
// tried again, after a pause, within the request's time.
//
// # Guarantees
//
// Each request is answered: with the model's reply, or with a JSON-RPC error
// whose data.code says what the matter is. What an error says of an endpoint's
// own words is bounded and printable, and holds no key.
//
// A request whose asker cancels it, or is gone from the room for ten seconds,
// is given up, and the endpoint's stream with it.
//
// Tokens are reserved before a request is sent and counted after it, by what
// the endpoint says. So an asker's bound is passed by one request's tokens at
// most, however many are sent at once.
//
// # Concurrency
//
// Run serves requests on goroutines of the room's, as many at a time as the
// document says, of which one asker never gets all; further ones are refused at
// once. It returns when all have ended.
package participant
