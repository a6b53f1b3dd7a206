package codetools

import (
	"cmp"
	"context"
	"slices"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/code/internal/taint"
	"github.com/parleyhq/parley/tool"
)

var securityScan = tool.Tool{
	Name:  "security_scan",
	Title: "Scan for vulnerabilities",
	Description: "Look through a file, or code given as text, in Go, Python, JavaScript or TypeScript for hostile text that flows from a source to a sink within one function: " +
		"SQL, commands, code, paths, templates, HTML and deserialisation; and for literal secrets and weak cryptography. " +
		"Each finding has its type, CWE, severity, confidence, place, source and the lines between. " +
		"Findings of low confidence, such as a parameter that is passed on unchanged, are only counted unless min_confidence is low. " +
		"It looks at one function at a time, so an empty answer is no proof of safety.",
	Capabilities: languages,
	Limits:       []tool.Limit{{Name: "max_findings", Community: 50, Pro: 500, Enterprise: 2_000}},
	Annotations:  reads,
	Timeout:      patience,
}

// ScanIn is what security_scan takes.
type ScanIn struct {
	Path          string          `json:"path,omitempty" jsonschema:"the file, relative to the folder; give this or code"`
	Code          string          `json:"code,omitempty" jsonschema:"the code itself; give this or path"`
	Language      syntax.Language `json:"language,omitempty" jsonschema:"needed with code; with path only where the file's name does not say it" enum:"go,python,javascript,typescript,tsx"`
	Types         []taint.Type    `json:"types,omitempty" jsonschema:"only findings of these types; all by default" enum:"sql_injection,command_injection,code_injection,path_traversal,template_injection,cross_site_scripting,unsafe_deserialization,hardcoded_secret,weak_crypto"`
	MinSeverity   string          `json:"min_severity,omitempty" jsonschema:"only findings at least as severe; low by default" enum:"low,medium,high,critical"`
	MinConfidence string          `json:"min_confidence,omitempty" jsonschema:"only findings at least as sure; medium by default" enum:"low,medium,high"`
	MaxFindings   int             `json:"max_findings,omitempty" jsonschema:"how many findings are listed, the most severe first" minimum:"0"`
}

// ScanOut is what security_scan answers.
type ScanOut struct {
	Path            string             `json:"path,omitzero"`
	Language        syntax.Language    `json:"language"`
	RiskLevel       string             `json:"risk_level" jsonschema:"the highest severity that was found, or none"`
	Vulnerabilities []VulnerabilityOut `json:"vulnerabilities" jsonschema:"the most severe first, then the surest, then by line"`
	Unsure          int                `json:"unsure,omitzero" jsonschema:"how many more there are of lower confidence than was asked for"`
	SyntaxErrors    int                `json:"syntax_errors,omitzero" jsonschema:"places that could not be parsed, in which things may be missed"`
	Truncated       bool               `json:"truncated,omitzero" jsonschema:"there are more findings than are listed"`
}

// VulnerabilityOut is a finding in an answer.
type VulnerabilityOut struct {
	Type       taint.Type `json:"type"`
	CWE        string     `json:"cwe"`
	Severity   string     `json:"severity" jsonschema:"low, medium, high or critical"`
	Confidence string     `json:"confidence" jsonschema:"low, medium or high"`
	Line       int        `json:"line" jsonschema:"of the sink"`
	Column     int        `json:"column" jsonschema:"from 1, in bytes"`
	Function   string     `json:"function,omitzero"`
	Sink       string     `json:"sink,omitzero" jsonschema:"what is reached, or the name that a secret is given to"`
	Source     *SourceOut `json:"source,omitzero"`
	Steps      []int      `json:"steps,omitzero" jsonschema:"lines on the way from the source to the sink"`
}

// SourceOut is where hostile text enters.
type SourceOut struct {
	Kind string `json:"kind" jsonschema:"request, arguments, environment, input, archive or parameter"`
	Name string `json:"name"`
	Line int    `json:"line"`
}

// SecurityScan is the tool security_scan.
func (p *Project) SecurityScan(ctx context.Context, call *tool.Call, in ScanIn) (ScanOut, error) {
	wish, err := in.wish()
	if err != nil {
		return ScanOut{}, err
	}
	f, err := p.fileOrCode(ctx, AnalyzeIn{Path: in.Path, Code: in.Code, Language: in.Language})
	if err != nil {
		return ScanOut{}, err
	}
	report, err := p.scan(ctx, f)
	if err != nil {
		return ScanOut{}, err
	}
	out := ScanOut{Path: f.Path, Language: f.Language, SyntaxErrors: len(f.Errors), Truncated: report.Full}
	out.list(report, wish, call.Clamp("max_findings", in.MaxFindings))
	return out, nil
}

// scan takes one of the turns that parsing takes, since it works as hard.
func (p *Project) scan(ctx context.Context, f *syntax.File) (*taint.Report, error) {
	end, err := p.turn(ctx, len(f.Source))
	if err != nil {
		return nil, err
	}
	defer end()
	return taint.Scan(ctx, f)
}

// A wish is which findings a caller wants to see.
type wish struct {
	types      []taint.Type
	severity   taint.Level
	confidence taint.Level
}

func (in *ScanIn) wish() (wish, error) {
	w := wish{types: in.Types, severity: taint.Low, confidence: taint.Medium}
	for _, t := range in.Types {
		if !slices.Contains(taint.Types(), t) {
			return w, tool.Errorf(tool.InvalidArgument, "types: each is one of %v", taint.Types())
		}
	}
	if in.MinSeverity != "" {
		if w.severity = taint.ParseLevel(in.MinSeverity); w.severity == 0 {
			return w, tool.Errorf(tool.InvalidArgument, "min_severity is one of low, medium, high and critical")
		}
	}
	if in.MinConfidence != "" {
		if w.confidence = taint.ParseLevel(in.MinConfidence); w.confidence == 0 || w.confidence > taint.High {
			return w, tool.Errorf(tool.InvalidArgument, "min_confidence is one of low, medium and high")
		}
	}
	return w, nil
}

// list puts what was wished for into the answer.
func (out *ScanOut) list(report *taint.Report, w wish, most int) {
	var found []taint.Finding
	for _, f := range report.Findings {
		switch {
		case len(w.types) > 0 && !slices.Contains(w.types, f.Type), f.Severity < w.severity:
		case f.Confidence < w.confidence:
			out.Unsure++
		default:
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b taint.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Confidence, a.Confidence))
	})
	out.RiskLevel = "none"
	if len(found) > 0 {
		out.RiskLevel = found[0].Severity.String()
	}
	found = atMost(found, most, &out.Truncated)
	out.Vulnerabilities = make([]VulnerabilityOut, 0, len(found))
	for _, f := range found {
		out.Vulnerabilities = append(out.Vulnerabilities, vulnerability(f))
	}
}

func vulnerability(f taint.Finding) VulnerabilityOut {
	out := VulnerabilityOut{
		Type: f.Type, CWE: f.CWE, Severity: f.Severity.String(), Confidence: f.Confidence.String(),
		Line: f.Line, Column: f.Column, Function: f.Function, Sink: f.Sink, Steps: f.Steps,
	}
	if f.Source != nil {
		out.Source = &SourceOut{Kind: f.Source.Kind, Name: f.Source.Name, Line: f.Source.Line}
	}
	return out
}
