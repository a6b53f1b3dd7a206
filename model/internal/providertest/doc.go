// Package providertest plays the endpoints of models for the tests of their
// adapters: it checks what is asked, and answers by a script.
//
//	func TestCases(t *testing.T) {
//		providertest.Run(t, "testdata", anthropic.New, strict(t))
//	}
//
// A case is a txtar file, with these sections:
//
//	request.json  the params of sampling/createMessage
//	config.json   what the config says beyond the usual, optional
//	sent.json     what the endpoint is to be sent: one section for each request that counts, optional
//	response      what it answers, one section for each request: a line with the
//	              status and what becomes of the connection, headers, an empty line, the body
//	want.json     the result, or
//	error         the error: its text, status, wait, and whether it is temporary
//	progress      how much was heard of at the end
//
// The first line of a response is the status. With "bare" behind it the last line of
// the body has no end, with "cut" the connection breaks off there besides, and with
// "hang" nothing more comes until the asker gives up. With the flag -update the last four are written anew.
package providertest
