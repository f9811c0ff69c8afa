package view

import "github.com/a-h/templ"

// liveParts are the parts of a running cluster's page.
func liveParts(s *stage) []Part {
	if s.o.Live != nil && s.attached() != nil {
		live := *s.o.Live
		live.Outside, live.May = true, false
		s.o.Live = &live
	}
	l, past := s.listing(), s.records()
	list := s.parts()
	for i := range list {
		if c := s.insteadOf(list[i].ID); c != nil {
			list[i].Component = c
		}
	}
	return append(list, Part{"finder", groupFinder(s, l)}, Part{"groups", watchList(s, l)}, Part{"brokers", brokers(s)}, Part{"sight", sightPane(s)},
		Part{"strip", stripPane(s, past)}, Part{"history", historyPane(s, past)}, Part{"figures", figuresPane(s, past)}, Part{"lag", lagPane(s)})
}

// ListParts is the list of groups alone: what changes when it is scrolled.
func ListParts(m *Model, o Options) []Part {
	s := newStage(m, Watching(o))
	return []Part{{"groups", watchList(s, s.listing())}}
}

// insteadOf is what stands in the place of a part: a consumer group has other ones, and of an observed cluster some are not
// seen. nil leaves the part.
func (s *stage) insteadOf(id string) templ.Component {
	modern, attached := s.modern() != nil, s.attached() != nil
	switch {
	case id == "ledger":
		return watchLedger(s)
	case modern && id == "machine":
		return modernMachine(s)
	case modern && id == "clients":
		return modernClients(s)
	case modern && id == "shelves":
		return modernShelf(s)
	case attached && id == "shelves":
		return awaitedShelf(s)
	case (attached || modern) && id == "purgatory":
		why := "watch.unseen.purgatory"
		if modern {
			why = "watch.unseen.modern"
		}
		return notSeen(s, "cap.doorA", why)
	case (attached || modern) && id == "wheels":
		return templ.NopComponent
	case (attached || modern) && id == "behaviour":
		return noBehaviour(s)
	}
	return nil
}
