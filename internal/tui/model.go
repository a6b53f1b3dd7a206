package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
	"github.com/parleyhq/parley/internal/tui/store"
)

// Options say how the console begins.
type Options struct {
	Rows  int              // that are kept; 0 is [store.DefaultRows]
	Began uint64           // the newest position when the room was joined
	Mouse bool             // whether the mouse is listened to
	Bell  bool             // whether a bell rings for what newly waits for us
	Zone  *time.Location   // nil is this machine's
	Now   func() time.Time // nil is time.Now
}

// Model is the console. See the package for what it is to whom.
type Model struct {
	ctx  context.Context // of what is asked of the room: commands of Bubble Tea are given none
	room Room
	now  func() time.Time

	pause func(ctx context.Context, d time.Duration) bool // false where ctx ended first

	store         *store.Store
	stream        *stream
	width, height int
	began         uint64 // the newest position when we joined

	focus    focus
	back     focus // where Esc leads from a page
	composer *composer
	filter   *editor
	decision *decision
	menu     *menu
	menuOf   focus
	chosen   chosen
	bulk     *bulk
	page     *page

	forms    asked.Queue
	filling  *filling
	refusing int

	within    *parley.Context // where we speak
	link      client.State
	reading   bool   // the past
	verifying bool   // the record
	quiet     string // who came or went last
	notice    []string
	mouse     bool
	bell      bell
	leaving   bool
	err       error // why it ended
}

// focus is where keys go.
type focus int

const (
	onStream focus = iota
	onComposer
	onFilter
	onDecision
	onForm
	onThreads
	onPeople
	onQueue
	onBulk
	onResults
	onPage
)

// New makes a console of a room. ctx ends what it asks of the room.
func New(ctx context.Context, room Room, o Options) *Model {
	m := &Model{ctx: ctx, room: room, now: o.Now, began: o.Began, mouse: o.Mouse, link: client.State{Phase: client.Connected}}
	if m.now == nil {
		m.now = time.Now
	}
	m.pause, m.bell = rest, bell{on: o.Bell, after: o.Began}
	m.store = store.New(o.Rows)
	m.stream = newStream(m.store)
	m.stream.zone = o.Zone
	if o.Zone == nil {
		m.stream.zone = time.Local
	}
	m.composer = newComposer()
	m.filter = newEditor("filter › ", 1)
	m.begin()
	m.resize(80, 24)
	return m
}

// begin takes in who we are, and who is here.
func (m *Model) begin() {
	people, upTo := m.room.People()
	m.store.Begin(m.room.ID(), m.room.Space(), people, upTo)
}

// Err is why the console ended, nil where somebody left.
func (m *Model) Err() error { return m.err }

// Init looks up what was there before us.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.seed(), m.know(), m.learn(), m.lookBack())
}

func (m *Model) resize(width, height int) {
	m.width, m.height = width, height
	if m.page != nil {
		m.page.width = 0
	}
	if m.decision != nil {
		m.decision.drawnFor = ""
	}
}

// Update takes in a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(max(msg.Width, 1), max(msg.Height, 1))
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		return m, m.click(msg)
	case Arrived:
		return m, m.arrived(msg)
	case Link:
		return m, m.linked(client.State(msg))
	case Ended:
		return m, m.ended(msg.Err)
	case done:
		return m, msg.then(m)
	case editedMsg:
		return m, m.edited(msg)
	}
	return m, nil
}

// done is what a command found out, to be taken in here.
type done struct{ then func(m *Model) tea.Cmd }

// do does something that takes time, and then, with its result, what it returns.
func (m *Model) do(work func(ctx context.Context) func(m *Model) tea.Cmd) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg { return done{work(ctx)} }
}

// Arrived is what the room brought since the last time.
type Arrived []Arrival

// Arrival is an envelope, or the gap where some are missing.
type Arrival struct {
	Envelope *parley.Envelope
	Gap      *client.Gap
}

// Link is news of the connection.
type Link client.State

// Ended says that the room has ended.
type Ended struct{ Err error }

func (m *Model) arrived(list Arrived) tea.Cmd {
	var cmds []tea.Cmd
	var news []*parley.Envelope
	for _, a := range list {
		if a.Gap != nil {
			cmds = append(cmds, m.missed(a.Gap))
			continue
		}
		if !m.store.Add(a.Envelope) {
			continue
		}
		if a.Envelope.Seq > m.began { // what is older was looked up, not asked again
			m.presence(a.Envelope)
			cmds = append(cmds, m.consider(a.Envelope), m.redefined(a.Envelope))
			news = append(news, a.Envelope)
		}
	}
	m.refresh()
	return tea.Batch(append(cmds, m.ring(news))...)
}

// refresh lets what is on the screen follow what is known.
func (m *Model) refresh() {
	m.stream.update(m.store.Changed())
	if d := m.decision; d != nil {
		d.drawnFor = ""
		if d.step == approving && d.loaded && !d.isOpen(m.store) {
			d.step = looking
		}
	}
	if m.bulk != nil {
		m.bulk.hear(m.store)
	}
	m.fillMenu()
}

// missed is told where envelopes are missing.
func (m *Model) missed(gap *client.Gap) tea.Cmd {
	m.notice = nil
	if gap.After.Epoch != gap.Next.Epoch {
		m.began = 0
		m.store.Anew("The record of this room began anew. What was here before is not part of it.")
		m.begin()
		_, m.bell.after = m.room.People()
		m.stream.show(m.stream.filter)
	} else {
		m.store.Tell(store.Lost, "… the gateway no longer has what came after "+place(&store.Row{Seq: gap.After.Seq})+": some of what happened is not shown …")
	}
	return tea.Batch(m.seed(), m.lookAgain())
}

func (m *Model) presence(e *parley.Envelope) {
	if e.Kind != parley.KindPresence {
		return
	}
	event, _ := parley.MemberString(e.Payload, "event")
	id, _ := parley.MemberString(parley.Member(e.Payload, "participant"), "id")
	if word := map[string]string{"join": " came", "leave": " left"}[event]; word != "" && id != m.store.Me && m.store.Here(id) == (event == "join") {
		m.quiet = id + word
	}
}

// linked is told of the connection.
func (m *Model) linked(state client.State) tea.Cmd {
	was := m.link.Phase
	m.link = state
	if state.Phase != client.Connected {
		return nil
	}
	m.begin()
	m.fillMenu()
	if was == client.Waiting {
		m.say("Connected again: nothing was lost, and nothing is shown twice.")
		if state.Gap != nil {
			m.say("Connected again, but some of what happened meanwhile is no longer kept.")
		}
		return tea.Batch(m.seed(), m.lookAgain())
	}
	return nil
}

func (m *Model) ended(err error) tea.Cmd {
	if !m.leaving {
		m.err = err
	}
	return m.leave()
}

func (m *Model) leave() tea.Cmd {
	m.leaving = true
	return tea.Quit
}

// seed asks which proposals are open.
func (m *Model) seed() tea.Cmd {
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		open, err := m.room.Waiting(ctx)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.store.Seed(open)
			m.refresh()
			return nil
		}
	})
}

// know asks who may come.
func (m *Model) know() tea.Cmd {
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		ids, err := m.room.Known(ctx)
		return func(m *Model) tea.Cmd {
			m.store.Know(ids)
			m.fail(err)
			return nil
		}
	})
}

// mostNotices bounds how many definitions are read at once.
const mostNotices = 64

// learn reads the definitions of the tools that are on record.
func (m *Model) learn() tea.Cmd {
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		var notices []*parley.Envelope
		listed, err := m.room.Tools(ctx, "")
		read := map[uint64]bool{}
		for _, t := range listed {
			if read[t.Notice] || t.Notice == 0 || len(read) == mostNotices {
				continue
			}
			read[t.Notice] = true
			if e, problem := m.room.Notice(ctx, t.Notice); problem == nil {
				notices = append(notices, e)
			}
		}
		return func(m *Model) tea.Cmd {
			for _, e := range notices {
				m.store.Learn(e)
			}
			_ = err // without them there is less to complete; who decides asks again
			return nil
		}
	})
}

// say shows a word until the next key.
func (m *Model) say(text string) {
	m.notice = nil
	lines, _ := fold(text, m.width, 5)
	for _, line := range lines {
		m.notice = append(m.notice, note.Render(line))
	}
}

// fail shows what went wrong until the next key.
func (m *Model) fail(err error) {
	if err == nil || m.ctx.Err() != nil {
		return
	}
	m.notice = problem(err, m.width)
	if len(m.notice) > 4 {
		m.notice = m.notice[:4]
	}
}
