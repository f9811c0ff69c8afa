package kafka

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// header is what precedes every request: key, version, correlation id, client id and, in flexible versions, tags.
type header struct {
	key, version int16
	correlation  int32
	// clientID lies in the frame; nil is Kafka's null and means the same as "".
	clientID []byte
	body     []byte
}

// parseHeader reads a request header up to the client id. The key and version are checked before the rest is looked at,
// since without them nothing else has a meaning.
func (s *Server) parseHeader(frame []byte) (h header, a *api, err error) {
	if len(frame) < 8 {
		return h, nil, refusef("a frame of %d bytes is too short for a request header", len(frame))
	}
	h.key = int16(binary.BigEndian.Uint16(frame))
	h.version = int16(binary.BigEndian.Uint16(frame[2:]))
	h.correlation = int32(binary.BigEndian.Uint32(frame[4:]))
	if a, err = s.lookUp(h.key, h.version); err != nil {
		return h, nil, err
	}
	rest := kbin.Reader{Src: frame[8:]}
	if n := rest.Int16(); n >= 0 {
		h.clientID = rest.Span(int(n))
	}
	if !rest.Ok() {
		return h, nil, refusef("%s v%d: the client id is longer than its frame", a.name, h.version)
	}
	h.body = rest.Src
	return h, a, nil
}

// lookUp finds what serves a key in a version. A version of ApiVersions that is none is found too: its answer is a
// downgrade (KIP-511). For everything else Kafka closes the connection.
func (s *Server) lookUp(key, version int16) (*api, error) {
	if key < 0 || int(key) >= len(s.apis) || s.apis[key] == nil {
		if name := kmsg.NameForKey(key); name != "" && name != "Unknown" {
			return nil, refusef("%s (API key %d) is not served here; ApiVersions lists what is", name, key)
		}
		return nil, refusef("there is no API key %d; this does not look like a Kafka client", key)
	}
	a := s.apis[key]
	if key == apiVersionsAPI.key && (version > a.max || version < 0) {
		return a, nil
	}
	if version < a.decodeFrom || version > a.max {
		return nil, refusef("%s v%d is not served here; v%d to v%d are", a.name, version, a.decodeFrom, a.max)
	}
	return a, nil
}

// decode reads the body of a request.
func decode(a *api, h header) (kmsg.Request, error) {
	request := kmsg.RequestForKey(h.key)
	request.SetVersion(h.version)
	body := h.body
	if request.IsFlexible() {
		var err error
		if body, err = skipTags(a, h); err != nil {
			return nil, err
		}
	}
	if h.key == produceAPI.key && len(body) > maxControlFrame {
		if err := checkProduce(h.version, body); err != nil {
			return nil, err
		}
	}
	if err := request.ReadFrom(body); err != nil {
		return nil, cutBody(a, h)
	}
	return request, checkRows(a, h, request)
}

func cutBody(a *api, h header) error {
	return refusef("%s v%d: the body is cut, or its lengths do not fit its frame", a.name, h.version)
}

// skipTags passes over the header's tagged fields: none is known, but a client may send some (KIP-482).
func skipTags(a *api, h header) ([]byte, error) {
	rest := kbin.Reader{Src: h.body}
	for n := rest.Uvarint(); n > 0 && rest.Ok(); n-- {
		rest.Uvarint()
		rest.Span(int(rest.Uvarint()))
	}
	if !rest.Ok() {
		return nil, refusef("%s v%d: the header's tagged fields are longer than the frame", a.name, h.version)
	}
	return rest.Src, nil
}
