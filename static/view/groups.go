package view

// may tells whether this page may kill and restart.
func (s *stage) may() bool { return s.o.Live != nil && s.o.Live.May }

// brokerHow says how a broker is: its address, or since when it is gone.
func (s *stage) brokerHow(b *Broker) string {
	switch {
	case b.Up && b.Host != "":
		return short(b.Host, 20) + ":" + num(b.Port)
	case b.Up:
		return s.t("broker.up")
	case b.Killed && !b.Fenced && b.NoticedByMs > s.m.NowMs:
		return s.t("owner.unnoticed", s.left(b.NoticedByMs))
	}
	return s.t("broker.gone", s.ago(b.SinceMs))
}
