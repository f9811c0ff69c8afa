package tab

import (
	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// What a live page's mode answers of what all pages can.

func (m *liveMode) half() bool    { return m.facts }
func (m *liveMode) playing() bool { return false }
func (m *liveMode) moving() bool {
	return !m.frozen && m.t.wallMs-m.t.drawnMs >= liveClockMs
}
func (m *liveMode) wakeMs() int64             { return liveClockMs }
func (m *liveMode) rate() Rate                { return Rate{} }
func (m *liveMode) interrupted()              {}
func (m *liveMode) offers(action string) bool { return action == "freeze" }
func (m *liveMode) compares() bool            { return false }
func (m *liveMode) dismiss()                  {}
func (m *liveMode) unfollow()                 {}
func (m *liveMode) findIn() string            { return "finder" }
func (m *liveMode) picture() *view.Model      { return m.model }
func (m *liveMode) told()                     {}
func (m *liveMode) jumpTo(int64)              {}
func (m *liveMode) factAt(int64) *event.Event { return nil }
func (m *liveMode) crashed(string, bool)      {}
func (m *liveMode) raw(int64, string) *view.Raw {
	return &view.Raw{Note: m.t.options.Lang.T("raw.live")}
}
func (m *liveMode) parts(model *view.Model, o view.Options) []view.Part {
	return view.LiveParts(model, o)
}
