// Package provider is what the endpoints of all makers of models have in
// common: one interface to ask, one kind of error, and bounds for what comes.
//
//	p, err := providers.New(provider.Config{Name: "mini", Kind: provider.OpenAI, Model: "gpt-5-mini", Key: key})
//	…
//	reply, err := p.Ask(ctx, request, func(at provider.Progress) { fmt.Print(".") })
//	if failed, ok := errors.AsType[*provider.Error](err); ok && failed.Temporary() {
//		wait(failed.RetryAfter)
//		…
//	}
//
// # Guarantees
//
// A reply is whole or it is an error: a stream that ends without its last event
// is Unreachable, and never a short reply. What an endpoint cannot take is
// Invalid, and names the block; nothing is left out in silence. A call whose
// input was cut off at the limit of tokens is no call: it is left out, and the
// stop reason says maxTokens.
//
// The key goes into one header of requests to the endpoint, and nowhere else:
// redirects are not followed, and no error holds it, not even where the
// endpoint repeats it. An endpoint is not trusted with sizes: replies, errors
// and streams are bounded by [MaxReply], [maxFailure] and [maxStream].
//
// # Concurrency
//
// A Provider may be asked by several goroutines at once. progress is called by
// the goroutine that asks, before Ask returns. Everything ends with its context.
package provider
