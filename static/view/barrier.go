package view

// barrier says which transaction keeps offsets from being read: a consumer that asks for stable offsets (read_committed, KIP-447)
// is answered UNSTABLE_OFFSET_COMMIT until its marker comes. Empty where none does.
func (s *stage) barrier() []run {
	for _, sd := range s.g.Sidings {
		if sd.Over() {
			continue
		}
		if t := s.m.Txns[sd.Producer]; t != nil && t.StartMs >= 0 && t.TimeoutMs > 0 {
			return s.rich("head.txn.until", num(sd.Producer), s.ago(sd.SinceMs), s.left(t.StartMs+t.TimeoutMs))
		}
		return s.rich("head.txn", num(sd.Producer), s.ago(sd.SinceMs))
	}
	return nil
}
