// Package modelspec is what a model participant is started with: which models
// of which endpoints it asks, with which keys, and how much it lets each asker
// have of them. "parley up" writes a [Document] for each entry of models: in
// parley.yaml, to the standard input of the program parley-model, which reads
// it.
//
//	{"url":"http://127.0.0.1:7717","space":"demo","token":"…","supervised":true,
//	 "models":[{"name":"sonnet","kind":"anthropic","model":"claude-sonnet-4","key":"…"}],
//	 "requests_per_minute":30,"participants":{"agent":{"tokens_per_day":200000}}}
//
// The same document may stand in a file of one's own, in which key_from and
// token_from say where a secret is, as "env:NAME" or "file:PATH".
//
// # Guarantees
//
// [Read] refuses members that it does not know, and [Document.Check] tells all
// that is wrong at once. Neither quotes a secret, and a [Secret] shows only
// where it is written as JSON.
//
// # Concurrency
//
// The package starts no goroutines. Values may be read from several at once.
package modelspec
