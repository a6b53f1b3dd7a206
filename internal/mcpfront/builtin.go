package mcpfront

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
)

// builtin is a tool of the room itself: with them an agent that knows only MCP
// talks with the others. No participant is called parley, so the names collide
// with nobody's.
type builtin struct {
	name, title, description string
	schema                   string // of its arguments
	readOnly                 bool
	kind                     string // that the caller must be able to send; "" for none
	call                     func(x *exchange, ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)
}

var builtins []*builtin

// It is filled here since the tools lead back to the lists that hold them.
func init() {
	builtins = []*builtin{
		{
			name: "parley__await", title: "Wait for an approval", readOnly: true,
			description: "Waits for the outcome of a call that needs approval: returns its result once somebody approved it, or says that it was rejected or has expired, or that it still waits.",
			schema:      `{"type":"object","properties":{"proposal":{"type":"string","description":"the id that the pending call was answered with"},"seconds":{"type":"number","minimum":0,"maximum":300,"description":"how long to wait at most; by default as long as a call is held"}},"required":["proposal"]}`,
			call:        (*exchange).await,
		},
		{
			name: "parley__chat", title: "Say something in the room",
			description: "Says something to everybody in the room, or addressed to some. People and agents read it; so ask here when you need a decision or a colleague.",
			schema:      `{"type":"object","properties":{"text":{"type":"string"},"to":{"type":"array","items":{"type":"string"},"description":"participants; everybody sees it all the same"},"format":{"enum":["plain","markdown"]}},"required":["text"]}`,
			kind:        parley.KindChat,
			call:        (*exchange).chat,
		},
		{
			name: "parley__read", title: "Read what happened in the room", readOnly: true,
			description: "Reads what was said and done in the room: the newest, or what came after a position. With wait it returns as soon as somebody says something. With context and digest it sums a context up: what is open, what was concluded, and the newest that was said.",
			schema: `{"type":"object","properties":{"after":{"type":"integer","minimum":0,"description":"only what has a larger seq; next of the last answer goes here"},"limit":{"type":"integer","minimum":1,"maximum":200},` +
				`"kind":{"type":"string","description":"a pattern, as chat or mcp/proposal:*"},"from":{"type":"string"},"context":{"type":"string","description":"a context's id"},"correlation":{"type":"string","description":"what answers this id"},"query":{"type":"string","description":"full text"},` +
				`"digest":{"type":"boolean","description":"sum up the context; nothing but context and tokens counts then"},"tokens":{"type":"integer","minimum":100,"maximum":100000,"description":"that the digest may take, 2000 by default"},` +
				`"wait":{"type":"number","minimum":0,"maximum":50,"description":"seconds to wait for something new, if there is nothing after the position"}}}`,
			call: (*exchange).read,
		},
		{
			name: "parley__result", title: "Read on in a large result", readOnly: true,
			description: "Reads a result that was too large to be given whole: a page of it, or the places where a text stands. Anybody in the room can read it by its handle.",
			schema:      resultSchema,
			call:        (*exchange).readOn,
		},
		{
			name: "parley__who", title: "Who is in the room", readOnly: true,
			description: "Lists the participants of the room: who is here, and what each may do.",
			schema:      `{"type":"object","properties":{}}`,
			call:        (*exchange).who,
		},
		{
			name: "parley__withdraw", title: "Take a proposal back",
			description: "Takes back a call of yours that waits for approval.",
			schema:      `{"type":"object","properties":{"proposal":{"type":"string","description":"the id that the pending call was answered with"}},"required":["proposal"]}`,
			call:        (*exchange).takeBack,
		},
	}
}

func builtinOf(name string) *builtin {
	i := slices.IndexFunc(builtins, func(b *builtin) bool { return b.name == name })
	if i < 0 {
		return nil
	}
	return builtins[i]
}

func (b *builtin) allowed(caps parley.Capabilities) bool {
	if b.kind == "" {
		return true
	}
	return caps.Allow(&parley.Action{Kind: parley.SplitKind(b.kind)})
}

func (b *builtin) definition() jsontext.Value {
	d := append(jsontext.Value(`{"name":`), mcp.Quote(b.name)...)
	d = append(append(d, `,"title":`...), mcp.Quote(b.title)...)
	d = append(append(d, `,"description":`...), mcp.Quote(b.description)...)
	d = append(append(d, `,"inputSchema":`...), b.schema...)
	d = append(d, `,"annotations":{"openWorldHint":false,"destructiveHint":false,"readOnlyHint":`...)
	d = strconv.AppendBool(d, b.readOnly)
	return append(d, `},"_meta":{"parley/origin":"parley"}}`...)
}

// arguments reads a built-in tool's arguments; what is wrong with them is data
// for the model.
func arguments(raw jsontext.Value, into any) error {
	if raw == nil {
		raw = jsontext.Value(`{}`)
	}
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		return parley.Errorf(parley.InvalidArgument, "the arguments do not fit the tool's schema: %s", misfit(err))
	}
	return nil
}

// misfit says what is wrong with arguments, without the types of this program.
func misfit(err error) string {
	s, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("it has no %.64q", s.JSONPointer.LastToken())
	case s.JSONPointer == "":
		return "they are no object"
	}
	return fmt.Sprintf("%.64q is of the wrong type", s.JSONPointer.LastToken())
}

// asResult makes a refusal the result of a tool.
func asResult(result jsontext.Value, err error) (jsontext.Value, error) {
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		return toolRefusal(refused), nil
	}
	return result, err
}

func (x *exchange) chat(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	var a struct {
		Text   string   `json:"text"`
		To     []string `json:"to"`
		Format string   `json:"format"`
	}
	if err := arguments(raw, &a); err != nil {
		return asResult(nil, err)
	}
	if strings.TrimSpace(a.Text) == "" {
		return asResult(nil, parley.Errorf(parley.InvalidArgument, "the text is empty"))
	}
	var opts []client.SendOption
	if len(a.To) > 0 {
		opts = append(opts, client.To(a.To...))
	}
	if a.Format == "markdown" {
		opts = append(opts, client.Markdown())
	}
	receipt, err := x.seat.room.Chat(ctx, a.Text, opts...)
	if err != nil {
		return asResult(nil, err)
	}
	structured := fmt.Appendf(nil, `{"id":%s,"seq":%d}`, mcp.Quote(receipt.ID), receipt.Seq)
	return x.mark(toolResult("Said, as number "+strconv.FormatUint(receipt.Seq, 10)+" in the room.", structured, false), receipt.ID, "")
}

func (x *exchange) who(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	if err := arguments(raw, &struct{}{}); err != nil {
		return asResult(nil, err)
	}
	people, err := x.seat.room.API().Participants(ctx)
	if err != nil {
		return asResult(nil, err)
	}
	slices.SortStableFunc(people, func(a, b client.Participant) int { return x.rank(&a) - x.rank(&b) })
	servers := x.servers()
	all := make([]told, len(people))
	for i := range people {
		all[i] = x.person(&people[i], servers)
	}
	budget := x.front.house.ResultBudget(x.place, "", "")
	shown := withRoom(all, false, budget)
	var text strings.Builder
	structured := append(jsontext.Value(`{"you":`), mcp.Quote(x.place.Participant)...)
	structured = append(structured, `,"participants":[`...)
	for i, p := range shown {
		text.WriteString(p.line)
		if i > 0 {
			structured = append(structured, ',')
		}
		structured = append(structured, p.json...)
	}
	if left := len(all) - len(shown); left > 0 {
		fmt.Fprintf(&text, "There was no room for %d more.", left)
	}
	return toolResult(strings.TrimSpace(text.String()), append(structured, "]}"...), false), nil
}

// rank puts first who matters most, where there is no room for all: the caller,
// and who is here.
func (x *exchange) rank(p *client.Participant) int {
	switch {
	case p.ID == x.place.Participant:
		return 0
	case p.Present:
		return 1
	}
	return 2
}

// person is a participant as parley__who tells of it.
func (x *exchange) person(p *client.Participant, servers []string) told {
	server := slices.Contains(servers, p.ID)
	what := "away"
	if p.Present {
		what = "here"
	}
	if server {
		what += ", an MCP server"
	}
	if p.ID == x.place.Participant {
		what += ", you"
	}
	b := append(jsontext.Value(`{"id":`), mcp.Quote(p.ID)...)
	b = strconv.AppendBool(append(b, `,"present":`...), p.Present)
	b = strconv.AppendBool(append(b, `,"server":`...), server)
	b = append(p.Capabilities.AppendJSON(append(b, `,"capabilities":`...)), '}')
	return told{line: fmt.Sprintf("%s (%s)\n", p.ID, what), json: b}
}

// ours is a proposal of the caller's, by its id.
func (x *exchange) ours(ctx context.Context, id string) (*client.Proposal, error) {
	id, err := x.inFull(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := x.seat.room.Proposal(ctx, id)
	if err != nil {
		return nil, err
	}
	if p.Envelope.From != "" && p.Envelope.From != x.place.Participant {
		p.Forget()
		return nil, parley.Errorf(parley.NotProposer, "%s is a proposal of %s", id, p.Envelope.From)
	}
	return p, nil
}

// inFull is the id that begins so, among the caller's proposals: people name
// them by their beginnings.
func (x *exchange) inFull(ctx context.Context, id string) (string, error) {
	if len(id) < shortID || len(id) >= fullID {
		return id, nil
	}
	all, err := x.seat.room.API().Proposals(ctx, "")
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(p client.ProposalRecord) bool {
		return p.From != x.place.Participant || !strings.HasPrefix(p.ID, id)
	})
	switch len(all) {
	case 0:
		return id, nil
	case 1:
		return all[0].ID, nil
	}
	return "", parley.Errorf(parley.InvalidArgument, "%d of your proposals begin with %s", len(all), id).WithHint("name one in full")
}

// Ids of ours have fullID characters; with shortID it is clear which is meant.
const (
	shortID = 8
	fullID  = 36
)

// maxAwait is the longest that a client can ask to wait for.
const maxAwait = 5 * time.Minute

func (x *exchange) await(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	var a struct {
		Proposal string   `json:"proposal"`
		Seconds  *float64 `json:"seconds"`
	}
	if err := arguments(raw, &a); err != nil {
		return asResult(nil, err)
	}
	wait := x.approvalWait()
	if a.Seconds != nil && *a.Seconds >= 0 {
		wait = min(maxAwait, time.Duration(min(*a.Seconds, maxAwait.Seconds())*float64(time.Second)))
	}
	if result, is, err := x.retries(ctx, x.msg.Params); is {
		return result, err
	}
	p, err := x.ours(ctx, a.Proposal)
	if err != nil {
		return asResult(nil, err)
	}
	fl := x.newFlight("", parley.SplitKind(p.Envelope.Kind).Method)
	fl.tool = toolOf(fl.method, member(p.Envelope.Payload, "params"))
	if fl.tool == "" && fl.method == "tools/call" { // the params were redacted
		fl.tool = parley.SplitKind(p.Envelope.Kind).Subject
	}
	if len(p.Envelope.To) == 1 {
		fl.server = p.Envelope.To[0]
	}
	if x.modern() && x.caps != nil { // its server may ask back
		return x.fly(ctx, fl, func(ctx context.Context) (jsontext.Value, error) { return x.awaited(ctx, fl, p, wait) })
	}
	defer x.seat.land(fl)
	result, err := x.awaited(ctx, fl, p, wait)
	x.collect(fl)
	return result, err
}

// awaited is what became of a proposal, as the result of a tool.
func (x *exchange) awaited(ctx context.Context, fl *flight, p *client.Proposal, wait time.Duration) (jsontext.Value, error) {
	result, err := x.hold(ctx, fl, p, wait)
	switch {
	case err != nil && ctx.Err() == nil:
		e := rpcError(err)
		return toolResult(e.Message, e.JSON(), true), nil
	case err == nil && asksForInput(result):
		fl.method = "tools/call" // what is answered is the call of this tool
		return asks(fl, p)
	case err == nil && fl.method != "tools/call" && !fl.waits && !fl.cut:
		whole := toolResult(string(result), jsontext.Value(`{"result":`+string(result)+`}`), false)
		return x.mark(fl.amended.tell(whole, true), fl.fulfilment, p.ID)
	}
	return result, err
}

func (x *exchange) takeBack(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	var a struct {
		Proposal string `json:"proposal"`
	}
	if err := arguments(raw, &a); err != nil {
		return asResult(nil, err)
	}
	p, err := x.ours(ctx, a.Proposal)
	if err != nil {
		return asResult(nil, err)
	}
	if err := p.Withdraw(ctx); err != nil {
		return asResult(nil, err)
	}
	return toolResult("Withdrawn: nobody can approve it any more.", append(standing("withdrawn", p.ID), '}'), false), nil
}

// maxRead is how many envelopes parley__read returns at most, and maxReadBytes
// how much of each.
const (
	maxRead      = 200
	maxReadBytes = 2_000
)

// How many tokens a digest has where nothing is said, and at least.
const (
	defaultDigest = 2_000
	leastDigest   = 100
)

func (x *exchange) read(ctx context.Context, raw jsontext.Value) (jsontext.Value, error) {
	var a struct {
		After       *uint64  `json:"after"`
		Limit       int      `json:"limit"`
		Kind        string   `json:"kind"`
		From        string   `json:"from"`
		Context     string   `json:"context"`
		Correlation string   `json:"correlation"`
		Query       string   `json:"query"`
		Digest      bool     `json:"digest"`
		Tokens      int      `json:"tokens"`
		Wait        *float64 `json:"wait"`
	}
	if err := arguments(raw, &a); err != nil {
		return asResult(nil, err)
	}
	q := client.Query{
		Limit: min(maxRead, cmp.Or(max(0, a.Limit), 50)), Kind: a.Kind, From: a.From, Context: a.Context,
		Correlation: a.Correlation, Text: a.Query, Descending: a.After == nil,
	}
	budget := x.front.house.ResultBudget(x.place, "", "")
	if a.Digest {
		if budget > 0 {
			a.Tokens = min(cmp.Or(a.Tokens, defaultDigest), max(leastDigest, budget/3)) // it is told as text and as JSON
		}
		return x.digest(ctx, a.Context, a.Tokens)
	}
	if a.After != nil {
		q.After = *a.After
	}
	wait := time.Duration(0)
	if a.Wait != nil {
		wait = time.Duration(min(max(*a.Wait, 0), 50) * float64(time.Second))
	}
	list, err := x.readAfter(ctx, &q, wait)
	if err != nil {
		return asResult(nil, err)
	}
	if q.Descending {
		slices.Reverse(list)
	}
	return readResult(list, q.After, q.Descending, budget), nil
}

// readAfter reads, and where there is nothing waits for somebody to say
// something.
func (x *exchange) readAfter(ctx context.Context, q *client.Query, wait time.Duration) ([]*parley.Envelope, error) {
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	for {
		news := x.seat.news()
		var list []*parley.Envelope
		for e, err := range x.seat.room.API().Envelopes(ctx, q) {
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		if len(list) > 0 || wait <= 0 {
			return list, nil
		}
		select {
		case <-news:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, nil
		}
	}
}
