package tab

import (
	"fmt"
	"strings"

	"grouplab/coordinator/recording"
	"grouplab/static/view"
)

// reportMost bounds the events of weight in a report.
const reportMost = 400

// report tells in Markdown, for whoever was not there, what happened to the group on stage: how it stood at the moment that is
// shown, its generations with their causes and costs, and the events of weight.
func (m *recordingMode) report() string {
	t, p := m.t, m.play
	model := t.fill()
	o := view.Watching(t.options)
	teller := view.NewTeller(model, o)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", m.words("report.title", plainMarkdown(t.options.Group)))
	fmt.Fprintf(&b, "%s\n\n", m.words("report.from", plainMarkdown(m.name), view.RecordingDay(m.file.Header.FromMs), view.RecordingDay(p.endMs()), fmt.Sprint(len(p.events))))
	if m.file.Header.Masked {
		fmt.Fprintf(&b, "%s\n\n", m.words("masked"))
	}
	if m.file.Stopped != "" {
		fmt.Fprintf(&b, "%s %s\n\n", m.words("stopped"), plainMarkdown(m.file.Stopped))
	}
	for _, g := range p.gaps {
		fmt.Fprintf(&b, "- %s\n", m.words("gap", teller.Clock(g.FromMs), teller.Clock(g.ToMs), plainMarkdown(g.Reason)))
	}
	fmt.Fprintf(&b, "## %s\n\n**%s**\n\n", m.words("report.now", teller.Clock(p.nowMs)), plainMarkdown(view.Headline(model, o)))
	m.reportGenerations(&b)
	fmt.Fprintf(&b, "## %s\n\n", m.words("report.events"))
	n, more := 0, 0
	from := m.file.Header.FromMs
	for i := p.floor; i < len(p.events); i++ {
		e := &p.events[i]
		if e.AtMs < from || !concerns(e, m.t.options.Group) || !weighty(e) {
			continue
		}
		if n++; n > reportMost {
			more++
			continue
		}
		fmt.Fprintf(&b, "- `%s` #%d %s\n", teller.Clock(e.AtMs), e.Seq, plainMarkdown(teller.Says(e)))
	}
	if more > 0 {
		fmt.Fprintf(&b, "- %s\n", m.words("report.more", fmt.Sprint(more)))
	}
	return b.String()
}

// reportGenerations is a table of the group's generations: when, why, how many moved, what that cost and whose doing it was.
func (m *recordingMode) reportGenerations(b *strings.Builder) {
	w := m.play.furthest.Watch()
	g := w.Groups[m.t.options.Group]
	if g == nil || len(g.Records) == 0 {
		return
	}
	teller := view.NewTeller(m.play.furthest, view.Watching(m.t.options))
	fmt.Fprintf(b, "## %s\n\n%s\n|---|---|---|---|---|---|---|\n", m.words("report.generations"), m.words("report.columns"))
	total := int64(0)
	for _, r := range g.Records {
		var lost []string
		for _, l := range r.Lost {
			total += l.PartitionMs
			lost = append(lost, strings.TrimSpace(fmt.Sprintf("%s s %s %s", seconds(l.PartitionMs), l.Why, l.Member)))
		}
		settled := "—"
		if r.SettledMs > 0 {
			settled = teller.Clock(r.SettledMs)
		}
		why := string(r.Why)
		if r.ClientReason != "" {
			why += ": " + r.ClientReason
		}
		who := r.Member
		if who == "" {
			who = r.ClientID
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %d/%d | %s |\n", r.Generation, teller.Clock(r.StartedMs), settled, plainMarkdown(why), plainMarkdown(who), r.Moved, r.Partitions, plainMarkdown(strings.Join(lost, "; ")))
	}
	fmt.Fprintf(b, "\n%s\n\n", m.words("report.lost", seconds(total)))
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%d", ms/1000, ms%1000/100) }

// toLab makes a run of the recording's group and hands it to the viewer.
func (m *recordingMode) toLab() {
	run, err := recording.Script(m.play.events, m.t.options.Group, m.file.Header)
	if err != nil {
		m.note("lab.not", err.Error())
		return
	}
	m.t.out.Download = &Download{Name: "grouplab-" + plainFile(m.t.options.Group) + "-run.txt", Text: run.Text}
	m.lab = &run
	m.t.out.Reveal = "rec-lab"
	m.note("lab.made", fmt.Sprint(len(run.Notes)))
}

// plainFile keeps of a name what every file system takes.
func plainFile(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
