package app

import (
	"fmt"

	"grouplab/server/kafka"
)

// groupDefaults are the settings that a group has in Kafka 4.0 (GroupConfig), as far as they are about consumer groups. They
// are for groups of the consumer protocol (KIP-848), which is not modelled: classic groups take what their members say. So
// they are shown, as tools expect, and cannot be changed.
var groupDefaults = []struct{ name, value string }{
	{"consumer.heartbeat.interval.ms", "5000"},
	{"consumer.session.timeout.ms", "45000"},
}

// groupSettings lists the settings of a group, whether there is one of that name or not (Kafka: ConfigHelper).
func groupSettings(group string) (list []kafka.Setting, code int16, message string) {
	if group == "" {
		return nil, codeInvalidRequest, "settings are those of one group, by its name"
	}
	for _, s := range groupDefaults {
		broker := "group." + s.name
		list = append(list, kafka.Setting{Name: s.name, Value: s.value, Type: typeInt, Source: kafka.SourceDefault, ReadOnly: true,
			Synonyms: []kafka.Synonym{{Name: broker, Value: s.value, Source: kafka.SourceDefault}}})
	}
	return list, 0, ""
}

// refuseGroupSettings says why a group's settings stay as they are.
func refuseGroupSettings(group string, a kafka.Alteration) (code int16, message string) {
	if group == "" {
		return codeInvalidRequest, "settings are given to one group, by its name"
	}
	for _, change := range a.Changes {
		known := false
		for _, s := range groupDefaults {
			known = known || s.name == change.Name
		}
		if !known {
			return codeInvalidConfig, fmt.Sprintf("no group setting is called %q", change.Name)
		}
		if change.Op != kafka.DeleteSetting {
			return codeInvalidConfig, change.Name + " is for groups of the consumer protocol (KIP-848), which are not modelled; a classic group takes what its members say (session.timeout.ms)"
		}
	}
	return 0, "" // what was never set is taken away
}
