// Package tool declares typed tools and serves them over MCP. Whatever a tool
// answers comes in one envelope, of which the configuration and the caller's
// tier choose how much is sent (docs/tools.md, docs/response.md).
//
//	type Input struct {
//		Path string `json:"path" jsonschema:"the file, relative to the folder"`
//	}
//	type Output struct {
//		Lines int `json:"lines"`
//	}
//
//	type folder struct{ root *os.Root }
//
//	func (f folder) count(ctx context.Context, call *tool.Call, in Input) (Output, error) {
//		text, err := f.root.ReadFile(in.Path)
//		if errors.Is(err, fs.ErrNotExist) {
//			return Output{}, tool.Errorf(tool.NotFound, "there is no file %q", in.Path)
//		}
//		return Output{bytes.Count(text, []byte("\n"))}, err
//	}
//
//	server, err := tool.NewServer(tool.Options{Name: "counter"})
//	…
//	tool.Add(server, tool.Tool{Name: "count_lines", Description: "Count a file's lines."}, f.count)
//	err = server.Run(ctx) // answers {"data":{"lines":3}} on stdin and stdout
//
// # Asking
//
// A function can ask a model and a human while it runs, where its tool says that
// it needs to (docs/tool-runtime.md): [Call.Sample] for a text, [SampleAs] for a
// typed answer, [Call.SampleTools] for calls of tools, [Elicit] for a form.
// [Call.Branch] bounds a part of it, and [AddHandoff] declares a tool that acts
// once before and once after, however long the asking takes.
//
// Who answers is the caller, or whoever serves it in the caller's room: a legacy
// client is asked by requests in its session, a modern one by the results of its
// own, and a space by package tool/room. Functions do not see the difference.
//
// # Guarantees
//
// A function gets arguments that fit its input: those that are missing, unknown
// or of a wrong type never reach it, and the caller is told which one it was
// and what was expected.
//
// Every call is answered, and by one document: data on success, an error with
// one of eleven codes otherwise. An [*Error] is told as it is, within
// [MaxMessage]; any other error, and a panic, is internal_error, whose cause is
// told to the log, and to callers only in the debug profile. A deadline is
// timeout. A call that its caller cancelled, and a tool that is not there, end
// in the protocol's own errors.
//
// A tool's definition does not depend on configuration or tier.
//
// Every question ends: in an answer that is what was asked for, or in an
// [*AskError] or a [*sampling.ParseError] that says why there is none. A function
// whose tool needs somebody who is not there is not begun. What a branch may
// spend, and how deep it nests, is never more than its parent may.
//
// # Concurrency
//
// Calls run side by side, each function on a goroutine of its own, which is the
// SDK's. Nothing stops a function but its context, which ends with its
// timeout, with its caller's patience, and with the server; [Server.Serve]
// waits for functions that are under way.
//
// The function of a tool that asks a modern client runs on a goroutine of the
// package's own, since it outlives the client's request. It ends with the
// function: [Server.Serve] and [Server.Close] wait for it.
package tool
