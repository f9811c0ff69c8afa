package tab

import (
	"strconv"

	"grouplab/coordinator/event"
)

// narrate tells a screen reader what the cursor passed: heartbeats merged, the last fact of weight in full. While time
// runs only facts of weight are told, since the transcript has them all.
func (m *lessonMode) narrate() {
	seen := m.cursor.seen()
	beats, others := 0, 0
	var told *event.Event
	for i := range seen {
		e := &seen[i]
		switch e.Body.(type) {
		case event.HeartbeatReceived:
			beats++
			continue
		}
		if m.pace.playing && !weighty(e) {
			continue
		}
		if told != nil {
			others++
			if weighty(told) && !weighty(e) {
				continue
			}
		}
		told = e
	}
	if told == nil {
		if beats > 0 && !m.pace.playing {
			m.t.narrated = m.t.word("merged-beats", strconv.Itoa(beats))
		}
		return
	}
	text := told.Text()
	if others > 0 {
		text = m.t.word("merged-more", strconv.Itoa(others)) + m.t.word("then") + text
	}
	if beats > 0 {
		text = m.t.word("merged-beats", strconv.Itoa(beats)) + m.t.word("then") + text
	}
	m.t.narrated = text
}

// weighty facts change what a group is, or who is in it.
func weighty(e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.StateChanged, event.GenerationStarted, event.MemberAdded, event.MemberRemoved, event.MemberIDIssued,
		event.ClientStarted, event.ClientStopped, event.BrokerStopped, event.BrokerStarted, event.LoadFinished,
		event.InputGiven, event.OffsetsRefused:
		return true
	case event.OperationCompleted:
		return b.Expired
	}
	return false
}
