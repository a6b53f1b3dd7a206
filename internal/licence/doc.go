// Package licence says which tier a signed licence file entitles to.
//
//	file, err := licence.Open(licence.Options{
//		Path: "/etc/acme/licence.jwt", Key: acmePublicKey, Issuer: "https://acme.example", Audience: "parley-code",
//	})
//	…
//	switch file.Tier() { … } // on every call
//
// A licence is a JSON Web Token (RFC 7519) in a file of its own, with the claims
// iss, aud, exp and tier, and maybe nbf. It is signed with the one algorithm
// that belongs to the key: RS256 for RSA, EdDSA for Ed25519.
//
// # Guarantees
//
// Whatever is wrong with the file (it is not there, not readable, too long, not
// a token, unsigned, signed by somebody else or in another way, from or for
// somebody else, not valid yet or any more) it entitles to community, and the
// log says why, once until something changes.
//
// A file that is put in its place, replaced or removed counts from the next
// call on. So a licence is revoked where it lies: there is no list to fetch, and
// the network is not asked.
//
// What it does not do: whoever can change the program, its key or its clock
// can give himself any tier. A licence keeps honest people honest.
//
// # Concurrency
//
// A [File] serves any number of goroutines and starts none. A call costs a look
// at the file's metadata.
package licence
