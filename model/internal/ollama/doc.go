// Package ollama asks models that an Ollama serves, over /api/chat and by the
// maker's own client.
//
//	p, err := ollama.New(provider.Config{Name: "local", Model: "qwen3", URL: "http://127.0.0.1:11434"})
//	…
//	reply, err := p.Ask(ctx, request, nil)
//
// # How a request is told
//
// A message is one text, and pictures beside it (JPEG, PNG, WebP): texts of one
// message become lines of it. Each result of a tool is a message, in the
// order of the calls; that a tool failed stands in its text, for there is no other
// place. What else there is is Invalid.
//
// A typed answer, which is [sampling.SchemaTool] as the only tool, is asked for
// as the format of the reply. The model is told of the schema in the system prompt
// besides, as the documents advise, for else it would not know what it fills in.
//
// No endpoint of this kind can make a model call a tool: where that is required, the
// system prompt says so, and the asker judges the reply. The client's types carry a part of
// JSON Schema only, as do the server's; what they leave out of a tool's schema
// stands in its description. Where no tools are offered, the calls of a history
// are told as text, since models without tools never see them otherwise. A model that
// is offered tools and has none makes the endpoint refuse, which is Invalid.
//
// A history that is too long for the model is refused as well: the endpoint would
// take its beginning away in silence, and is asked not to.
//
// # How a reply is read
//
// Calls without an id get one. The endpoint does not tell a stop sequence from
// an end: both are endTurn. What a model thought before it answered is no part
// of the reply.
//
// # Guarantees
//
// Those of [provider.Provider]. The key, where there is one, is sent as a bearer
// token; keys and addresses of the environment are not used. Arguments of calls keep
// all digits of their numbers, both ways.
//
// # Concurrency
//
// A model may be asked by several goroutines at once. The client takes 8 MB of
// memory for each request that is under way.
package ollama
