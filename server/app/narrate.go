package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"grouplab/coordinator/event"
)

const (
	// narratedPerSecond bounds the lines about what clients do: they choose how often they do it.
	narratedPerSecond = 50
	// narratedBytes bounds one line: a group may have thousands of members.
	narratedBytes = 400
)

// narrator writes those facts into the log that an operator looks for there; all of them are on the page and at /api/events. It
// runs on the loop's goroutine.
type narrator struct {
	log    *slog.Logger
	second int64
	lines  int
}

// levelOf is how noteworthy a fact is; told is false where it is none of the log's.
func levelOf(e *event.Event) (level slog.Level, told bool) {
	switch b := e.Body.(type) {
	case event.BrokerFenced, event.LoadSkipped:
		return slog.LevelWarn, true
	case event.LoadFinished:
		if b.Failed != "" {
			return slog.LevelError, true
		}
		if b.Groups == 0 {
			return slog.LevelDebug, true
		}
		return slog.LevelInfo, true
	case event.TopicCreated:
		if b.Internal {
			return slog.LevelDebug, true
		}
		return slog.LevelInfo, true
	case event.BrokerStarted, event.BrokerStopped, event.TopicDeleted, event.PartitionsAdded, event.RebalanceStarted, event.GenerationStarted,
		event.MemberRemoved, event.GroupRemoved, event.OffsetsRemoved:
		return slog.LevelInfo, true
	case event.ConnectionOpened, event.ConnectionClosed, event.LeaderChanged, event.MemberAdded, event.LogCompacted, event.ReplicaTruncated, event.InputGiven:
		return slog.LevelDebug, true
	}
	return 0, false
}

func (n *narrator) saw(events []event.Event) {
	for i := range events {
		e := &events[i]
		level, told := levelOf(e)
		if !told || !n.log.Enabled(context.Background(), level) {
			continue
		}
		if second := time.Now().Unix(); second != n.second {
			if n.lines > narratedPerSecond {
				n.log.Warn(fmt.Sprintf("%d more facts were not written here in one second; /api/events has them", n.lines-narratedPerSecond))
			}
			n.second, n.lines = second, 0
		}
		if n.lines++; n.lines > narratedPerSecond {
			continue
		}
		attrs := []any{"seq", e.Seq}
		text := e.Text()
		if e.Broker != 0 {
			attrs = append(attrs, "broker", e.Broker)
		}
		if e.Group != "" {
			attrs, text = append(attrs, "group", e.Group), "group "+event.Name(e.Group)+": "+text
		}
		n.log.Log(context.Background(), level, short(text), attrs...)
	}
}

func short(text string) string {
	if len(text) <= narratedBytes {
		return text
	}
	end := narratedBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
