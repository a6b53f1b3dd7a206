package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley/client"
)

// strange are ids of contexts that some take for something else. The last of
// them are refused.
var strange = []string{
	"a/b/c", "../../etc/passwd", "/", "//", ".", "..", "%2F", "?tokens=1", "#", "*", "tree:x", "a,b", "'", `"`, `\`, "{}", "null",
	strings.Repeat("i", 128), strings.Repeat("/", 128),
	strings.Repeat("i", 129), "", " ", "a b", "a\nb", "\x00", "\x1b[2J", "é", "👩‍👩‍👧‍👦",
}

// weave opens contexts as fast as it may, and more, in every shape that a tree
// must not have. Two of them do the same under the same ids.
func weave(who string) func(context.Context, *crew, *rand.Rand) {
	return func(ctx context.Context, c *crew, rnd *rand.Rand) {
		for round := 0; ctx.Err() == nil; round++ {
			if round > 0 {
				rest(ctx, rnd, 20*c.pace)
			}
			w, hangUp := c.plug(ctx, who, quietly+"&contexts=none&echo=off")
			if w == nil {
				continue
			}
			var hearing sync.WaitGroup
			hearing.Go(func() {
				if w.closed() == 4029 {
					c.tally.did("closed for opening contexts")
				}
			})
			c.spin(ctx, w, rnd, round)
			hangUp()
			hearing.Wait()
		}
	}
}

// spin writes one shape to a connection, until that is closed.
func (c *crew) spin(ctx context.Context, w *wire, rnd *rand.Rand, round int) {
	shape := round % len(shapes)
	for i := range shapeLength {
		_, err := w.Write(frame(textFrame, `{"kind":"chat","context":`+shapes[shape](fmt.Sprint(round/len(shapes)), i)+`,"payload":{"text":"`+say(rnd, 60)+`"}}`))
		if err != nil || !rest(ctx, rnd, c.pace/2) {
			return
		}
	}
	c.tally.did("wove contexts")
}

// shapeLength is how many envelopes one shape has.
const shapeLength = 150

// shapes make the field of the i-th envelope of a tree that has a name.
var shapes = []func(tree string, i int) string{
	func(tree string, i int) string { return contextField("fresh/"+tree+"/"+fmt.Sprint(i), "", "") },
	func(tree string, i int) string { // from the leaf on, so that nobody can tell how deep it becomes
		return contextField(fmt.Sprint("up/", tree, "/", i), fmt.Sprint("up/", tree, "/", i+1), "")
	},
	func(tree string, i int) string {
		return contextField(fmt.Sprint("down/", tree, "/", i), fmt.Sprint("down/", tree, "/", i-1), "")
	},
	func(tree string, i int) string { // circles of seven
		return contextField(fmt.Sprint("circle/", tree, "/", i/14, "/", i%7), fmt.Sprint("circle/", tree, "/", i/14, "/", (i+1)%7), "")
	},
	func(tree string, i int) string {
		return contextField(fmt.Sprint("orphan/", tree, "/", i), fmt.Sprint("nobody/", i), "")
	},
	func(tree string, i int) string { return contextField(strange[i%len(strange)], "", "") },
	func(tree string, i int) string {
		return contextField("strange/"+tree+fmt.Sprint(i), strange[i%len(strange)], "")
	},
	func(tree string, i int) string {
		return contextField(fmt.Sprint("heavy/", tree, "/", i), "", strings.Repeat("m", []int{10, 1 << 10, 5 << 10, 63 << 10}[i%4]))
	},
	func(tree string, i int) string { return contextField("retyped", "", "") + strings.Repeat(" ", i) },
	func(tree string, i int) string {
		return []string{`"a/b/c"`, `""`, `[]`, `null`, `7`, `{"id":7}`, `{"id":"x","metadata":[]}`}[i%7]
	},
}

// contextField writes the field, with metadata if there is any.
func contextField(id, parent, note string) string {
	field := map[string]any{"id": id, "type": []string{"reasoning", "workflow", "odd"}[len(id)%3]}
	if parent != "" {
		field["parent"] = parent
	}
	if note != "" {
		field["metadata"] = map[string]any{"note": note}
	}
	text, err := json.Marshal(field)
	if err != nil {
		panic(err) // texts can be written
	}
	return string(text)
}

// pry asks about contexts, those that cannot be included.
func pry(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 20*c.pace) {
		id := strange[rnd.IntN(len(strange))]
		if rnd.IntN(2) == 0 {
			id = fmt.Sprint([]string{"up/", "down/", "circle/"}[rnd.IntN(3)], rnd.IntN(3), "/", rnd.IntN(7))
		}
		paths := []string{
			"/contexts?limit=100&order=desc", "/contexts?state=open", "/contexts?state=concluded&limit=50", "/contexts?type=odd&opener=twin&limit=10",
			"/contexts?limit=0", "/contexts?state=shut", "/contexts?after=-1",
			"/contexts?limit=100&tree=" + url.QueryEscape(id), "/contexts?parent=" + url.QueryEscape(id),
			"/envelopes?limit=20&subtree=true&context=" + url.QueryEscape(id),
		}
		if id != "" {
			one := "/contexts/" + url.PathEscape(id)
			paths = append(paths, one, one+"/replay?subtree=true", one+"/digest?tokens=100", one+"/digest?tokens=1000&subtree=false", one+"/digest?tokens=99")
		}
		c.ask(ctx, http.MethodGet, "asked about contexts", "reader", paths[rnd.IntN(len(paths))], "")
	}
}

// breakOff replays a context, and leaves in the middle.
func breakOff(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 40*c.pace) {
		resp, err := c.do(ctx, http.MethodGet, "reader", "/contexts/retyped/replay", "")
		if err != nil {
			c.answered(ctx, "replay broken off", 0, err)
			continue
		}
		var some strings.Builder
		_, _ = io.CopyN(&some, resp.Body, 4<<10) // there may be less
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || !c.overtaken(some.String()) {
			c.answered(ctx, "replay broken off", resp.StatusCode, nil)
		}
	}
}

// aloof wants nothing of contexts, and gets nothing of them, whatever others do.
func aloof(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 5*c.pace) {
		room, err := c.enter(ctx, "aloof", client.Options{Contexts: "none", History: rnd.IntN(20)})
		if err != nil {
			continue
		}
		staying, over := context.WithTimeout(ctx, time.Duration(rnd.Int64N(int64(100*c.pace))))
		for e, err := range room.Envelopes(staying) {
			switch {
			case err != nil:
			case e.Context != nil && !slices.Contains(e.To, "aloof"):
				c.tally.fault("%s: who wants no contexts was sent %d of %.40q", c.space, e.Seq, e.Context.ID)
			default:
				c.tally.did("received what is in no context")
			}
		}
		over()
		room.Close()
	}
}

// misfilter joins with settings of contexts that make no sense, or hardly any.
func misfilter(ctx context.Context, c *crew, rnd *rand.Rand) {
	settings := []string{
		"", "nonsense", "all,none", "type:", "id:", "tree:", "tree:a,b", "id:" + strings.Repeat("x", 129), "id:" + strings.Repeat("x,", 300) + "x",
		"type:" + strings.Repeat("t", 4000), "id:\x00", "tree:👩", "all", "none", "type:odd,reasoning", "tree:up/0/400", "tree:circle/0/0/0", "id:a/b/c",
	}
	for next := 0; rest(ctx, rnd, 10*c.pace); next++ {
		w, hangUp := c.plug(ctx, "twin", quietly+"&contexts="+url.QueryEscape(settings[next%len(settings)]))
		if w != nil {
			rest(ctx, rnd, 10*c.pace)
			hangUp()
		}
		c.tally.did("joined with odd contexts")
	}
}
