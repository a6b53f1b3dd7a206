package main

import "github.com/parleyhq/parley/tool"

// limitFiles is how many files one call reviews, by tier.
const limitFiles = "max_files"

var declaration = tool.Tool{
	Name:  "review",
	Title: "Review",
	Description: "Has a language model review a diff, or files, each by itself, and sums up. " +
		"Answers findings with file, line and severity, and which files were left out, and why.",
	Needs:  []tool.Ability{tool.SamplingTools},
	Depth:  2, // the reasoning, and in it a branch for each file
	Tokens: 2_000_000,
	// Each file is a context of its own in the room, where one participant has at most 256 open.
	Limits:      []tool.Limit{{Name: limitFiles, Community: 20, Pro: 100, Enterprise: 200}},
	Annotations: tool.Annotations{ReadOnly: true},
}

// input are the tool's arguments.
type input struct {
	Diff  string   `json:"diff,omitempty" jsonschema:"a unified diff, as git diff prints it; or else files"`
	Files []source `json:"files,omitempty" jsonschema:"the files to review; or else diff"`
	Focus string   `json:"focus,omitempty" jsonschema:"what to look for, in your words"`
}

// source is a file to review.
type source struct {
	Path    string  `json:"path" jsonschema:"what the file is called, with slashes"`
	Content *string `json:"content,omitzero" jsonschema:"what is in it; left out: it is read from the folder that the server was started with"`
}

// A severity is how bad a finding is.
type severity string

const (
	grave   severity = "error"
	warning severity = "warning"
	note    severity = "note"
)

// A finding is what the model has to say about a line.
type finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line" jsonschema:"0 is the file as a whole"`
	Severity severity `json:"severity" enum:"error,warning,note"`
	Message  string   `json:"message"`
}

// A reason is why a file, or the summary, was left out.
type reason string

const (
	tooMany     reason = "too_many"      // more files than one call reviews
	tooLarge    reason = "too_large"     // more text than a branch is given
	notText     reason = "not_text"      // bytes, not UTF-8
	notFound    reason = "not_found"     // there is no such file
	forbidden   reason = "forbidden"     // it lies outside of the folder, is no regular file, or cannot be read
	nothingNew  reason = "nothing_new"   // it is empty, or the diff deletes it, or changes its name or mode alone
	binary      reason = "binary"        // the diff says that it differs, and not how
	outOfTokens reason = "out_of_tokens" // the branch's tokens, or those of the call, or the model's budget, are used up
	declined    reason = "declined"      // somebody refused to have the model asked
	noAnswer    reason = "no_answer"     // the model did not answer, or not with findings
)

// leftOut is what was not reviewed.
type leftOut struct {
	File    string `json:"file"`
	Reason  reason `json:"reason" enum:"too_many,too_large,not_text,not_found,forbidden,nothing_new,binary,out_of_tokens,declined,no_answer"`
	Message string `json:"message"`
}

// counts are how much there was of everything.
type counts struct {
	Files    int `json:"files" jsonschema:"that were asked for"`
	Reviewed int `json:"reviewed"`
	LeftOut  int `json:"left_out"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
}

// output is the tool's answer.
type output struct {
	Summary  string    `json:"summary,omitempty" jsonschema:"absent where there is none; then no_summary says why"`
	Findings []finding `json:"findings"`
	Counts   counts    `json:"counts"`
	LeftOut  []leftOut `json:"left_out,omitempty"`
	// NoSummary is why there is no summary.
	NoSummary string `json:"no_summary,omitempty" jsonschema:"why there is no summary"`
}

// count fills in the counts.
func (o *output) count(files, reviewed int) {
	o.Counts = counts{Files: files, Reviewed: reviewed, LeftOut: len(o.LeftOut)}
	for _, f := range o.Findings {
		switch f.Severity {
		case grave:
			o.Counts.Errors++
		case warning:
			o.Counts.Warnings++
		case note:
			o.Counts.Notes++
		}
	}
}
