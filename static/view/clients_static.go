package view

import "grouplab/coordinator/event"

// idsShown is how many earlier ids of a static member are drawn.
const idsShown = 2

// idMarks are the ids that a static member has had, the newest last; none where it has had only one.
func (s *stage) idMarks(mb *Member) []noted {
	if len(mb.Earlier) == 0 {
		return nil
	}
	var list []noted
	for _, inc := range mb.Earlier[max(len(mb.Earlier)-idsShown, 0):] {
		list = append(list, noted{Text: idShort(inc.ID), Says: s.incarnation(inc), Old: true})
	}
	return append(list, noted{Text: idShort(mb.ID)})
}

// idShort keeps both ends of a member id.
func idShort(id string) string { return short(id, 13) }

// incarnation says what became of an earlier id.
func (s *stage) incarnation(inc Incarnation) string {
	text := s.t("id.replaced", event.Name(inc.ID), s.ago(inc.ReplacedMs))
	if f := inc.Fenced; f.Code != 0 {
		text += s.t("comma") + s.fencedSays(f)
	}
	return text
}

// fencedSays says which request of a fenced process was answered what, and by whom.
func (s *stage) fencedSays(f fencing) string {
	return s.t("fenced.says", event.APIName(f.API), event.CodeName(f.Code), num(f.Code), num(f.Broker))
}

// fencedRow turns the row of a process without a member id into that of a fenced one, where another process has joined
// with its instance id.
func (s *stage) fencedRow(row *clientRow, c *Client) {
	if s.g == nil {
		return
	}
	mb, inc := s.g.fencedProcess(c)
	if mb == nil {
		return
	}
	row.Class, row.Instance = "row-fenced", plainText(mb.InstanceID, 24)
	row.IDs = []noted{{Text: idShort(inc.ID), Says: s.incarnation(*inc), Old: true}}
	row.Note = s.t("fenced.taken", name(mb.InstanceID), name(mb.Label))
	if inc.Fenced.Code == 0 {
		row.Tags, row.Knows = []string{s.t("tag.replaced")}, s.t("fenced.next")
		if l := s.o.Lesson; l != nil && l.Gate != "free" { // a lesson asks for it
			row.Knows = s.t("row.notmember")
		}
		return
	}
	row.Tags, row.Knows = []string{s.t("tag.fenced")}, s.fencedSays(inc.Fenced)
}
