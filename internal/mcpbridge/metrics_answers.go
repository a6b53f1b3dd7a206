package mcpbridge

import (
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
)

// answers count what answers in the envelope took, by tool, by participant and
// by profile. Names of tools are a server's and those of participants a space's,
// so there is a bound to how many are told apart.
type answers struct {
	count, tokens, saved *prometheus.CounterVec

	mu    sync.Mutex
	known map[answerLabels]bool // guarded by mu
}

type answerLabels struct{ tool, participant, profile string }

const (
	// otherLabel stands for what is not told apart.
	otherLabel = "other"
	// maxAnswerSeries bounds what is told apart, of one server.
	maxAnswerSeries = 1_000
	// maxLabel is how long a name may be that is a label, in bytes.
	maxLabel = 128
)

func newAnswers() *answers {
	labels := []string{"tool", "participant", "profile"}
	vec := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &answers{
		count:  vec("parley_tool_answers_total", "Answers of tools in the response envelope, by tool, by whose call it was and by profile."),
		tokens: vec("parley_tool_answer_tokens_total", "Tokens of these answers."),
		saved:  vec("parley_tool_answer_tokens_saved_total", "Tokens that these answers would have taken more in the debug profile."),
		known:  map[answerLabels]bool{},
	}
}

// answer counts an answer.
func (m *Metrics) answer(tool, participant string, u Usage) {
	if m == nil {
		return
	}
	a := m.answers
	l := a.label(answerLabels{tool, participant, u.Profile})
	a.count.WithLabelValues(l.tool, l.participant, l.profile).Inc()
	a.tokens.WithLabelValues(l.tool, l.participant, l.profile).Add(float64(u.Tokens))
	a.saved.WithLabelValues(l.tool, l.participant, l.profile).Add(float64(u.Saved))
}

// label is l, or what stands for the rest once there are too many.
func (a *answers) label(l answerLabels) answerLabels {
	for _, name := range []*string{&l.tool, &l.participant, &l.profile} {
		if len(*name) > maxLabel || !utf8.ValidString(*name) {
			*name = otherLabel
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.known[l]:
		return l
	case len(a.known) >= maxAnswerSeries:
		return answerLabels{otherLabel, otherLabel, otherLabel}
	}
	a.known[l] = true
	return l
}
