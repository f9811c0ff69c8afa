package app

import (
	"slices"
	"strings"

	"grouplab/server/kafka"
)

// otherwise is a broker setting as it is where nobody says anything.
func (k setting) otherwise() string {
	value, _, _ := strings.Cut(k.standard, ",")
	return value
}

// withoutDefault are broker settings that have no value of their own in Kafka: the hours count, or the scheduler's interval.
var withoutDefault = []string{"log.retention.ms", "log.roll.ms", "log.roll.jitter.ms", "log.flush.interval.ms"}

// synonyms are the places that say a topic's setting when the topic does not: the brokers' setting that it follows, as it is
// now, as it was told at the start, and by default. standard is what counts now.
func (l *liveSettings) synonyms(broker, standard string) (list []kafka.Synonym) {
	if broker == "" {
		return nil
	}
	source := l.source(broker)
	if source == kafka.SourceDefault && slices.Contains(withoutDefault, broker) {
		return nil
	}
	list = append(list, kafka.Synonym{Name: broker, Value: standard, Source: source})
	if value, given := l.given[broker]; given && source < kafka.SourceStatic {
		list = append(list, kafka.Synonym{Name: broker, Value: value, Source: kafka.SourceStatic})
	}
	i := slices.IndexFunc(known, func(k setting) bool { return k.name == broker })
	if source != kafka.SourceDefault && i >= 0 && !slices.Contains(withoutDefault, broker) {
		list = append(list, kafka.Synonym{Name: broker, Value: known[i].otherwise(), Source: kafka.SourceDefault})
	}
	return list
}
