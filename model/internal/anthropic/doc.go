// Package anthropic asks models over Anthropic's Messages API, by the maker's own
// client.
//
//	p, err := anthropic.New(provider.Config{Name: "sonnet", Model: "claude-sonnet-5-5", Key: key})
//	…
//	reply, err := p.Ask(ctx, request, nil)
//
// # How a request is told
//
// The endpoint wants the two roles in turns, the user's first: messages of one
// role become one turn, and before an assistant's beginning stands
// [sampling.Opening]. It takes names and ids of the letters, digits, _ and -
// alone: others are replaced on the way there, and put back in the reply. A
// failed tool's result may hold texts only: pictures of it follow behind the
// results. White space at the end of a last message that is the assistant's is
// taken off. A history with calls wants tools: where the request has none, those that
// it speaks of are declared, and none may be called.
//
// A typed answer, which is [sampling.SchemaTool] as the only tool, becomes a tool
// that has to be called, once. A temperature above 1, which other endpoints take,
// is sent as 1.
//
// Newer models take no temperature, and some cannot be made to call tools. Such a
// request is sent again without a temperature, or with words in the system
// prompt instead; and so are all that follow. Nor do newer models go on with an
// assistant's message that stands last: that is Invalid, in the endpoint's words.
// What they think counts towards maxTokens.
//
// Pictures are taken as JPEG, PNG, GIF and WebP, and resources also as PDF; what
// else there is apart from text is Invalid. What a model thought before it
// answered is no part of the reply.
//
// # Guarantees
//
// Those of [provider.Provider]. The environment has no say: neither keys nor
// addresses in variables of the client's are used, and nothing is traced.
//
// # Concurrency
//
// A model may be asked by several goroutines at once.
package anthropic
