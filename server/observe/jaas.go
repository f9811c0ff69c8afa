package observe

import (
	"errors"
	"fmt"
	"strings"
)

// login is what sasl.jaas.config says: a login module and its options. Options hold secrets.
type login struct {
	module  string
	options map[string]string
}

// parseJAAS reads the value of sasl.jaas.config as Kafka does (JaasConfig, over Java's StreamTokenizer): CLASS FLAG
// NAME=VALUE … ; with one login module. Errors do not repeat values, which may be secret.
func parseJAAS(text string) (login, error) {
	tokens, err := jaasTokens(text)
	if err != nil {
		return login{}, err
	}
	const shape = `it takes CLASS required NAME="VALUE" …; as in org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="…";`
	if len(tokens) < 3 {
		return login{}, errors.New(shape)
	}
	switch flag := strings.ToLower(tokens[1].text); flag {
	case "required", "requisite", "sufficient", "optional":
	default:
		return login{}, fmt.Errorf("behind the class there is no flag (required): %s", shape)
	}
	l := login{module: tokens[0].text, options: map[string]string{}}
	rest := tokens[2:]
	for len(rest) > 0 && !rest[0].is(';') {
		if len(rest) < 3 || !rest[1].is('=') || rest[0].mark != 0 || rest[2].mark != 0 {
			return login{}, fmt.Errorf("an option is no NAME=\"VALUE\", or the ; at the end is missing: %s", shape)
		}
		l.options[rest[0].text] = rest[2].text
		rest = rest[3:]
	}
	switch {
	case len(rest) == 0:
		return login{}, fmt.Errorf("the ; at the end is missing: %s", shape)
	case len(rest) > 1:
		return login{}, errors.New("there is more behind the first ; and only one login module is possible")
	}
	return l, nil
}

// jaasToken is a word or a quoted text, or a mark that is one character.
type jaasToken struct {
	text string
	mark rune
}

func (t jaasToken) is(mark rune) bool { return t.mark == mark }

func jaasTokens(text string) (list []jaasToken, err error) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		switch r := runes[i]; {
		case r <= ' ':
			i++
		case r == '/' && i+1 < len(runes) && runes[i+1] == '/':
			for i < len(runes) && runes[i] != '\n' && runes[i] != '\r' {
				i++
			}
		case r == '/' && i+1 < len(runes) && runes[i+1] == '*':
			if i = behindComment(runes, i+2); i < 0 {
				return nil, errors.New("a comment does not end")
			}
		case r == '"' || r == '\'':
			var value string
			if value, i = quoted(runes, i); i < 0 {
				return nil, errors.New("a quotation mark is missing at the end of a value")
			}
			list = append(list, jaasToken{text: value})
		case jaasWord(r):
			begin := i
			for i < len(runes) && jaasWord(runes[i]) {
				i++
			}
			list = append(list, jaasToken{text: string(runes[begin:i])})
		default:
			list = append(list, jaasToken{mark: r})
			i++
		}
	}
	return list, nil
}

func behindComment(runes []rune, i int) int {
	for ; i+1 < len(runes); i++ {
		if runes[i] == '*' && runes[i+1] == '/' {
			return i + 2
		}
	}
	return -1
}

func jaasWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_$.", r) || r >= 0xa0
}

// quoted reads a text from its quotation mark at i on; the index behind it is -1 where it does not end.
func quoted(runes []rune, i int) (string, int) {
	end := runes[i]
	var b strings.Builder
	for i++; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == end:
			return b.String(), i + 1
		case r == '\n' || r == '\r':
			return "", -1
		case r == '\\' && i+1 < len(runes):
			i++
			if r = runes[i]; r >= '0' && r <= '7' {
				n, most := rune(0), 3
				if r > '3' {
					most = 2
				}
				for ; most > 0 && i < len(runes) && runes[i] >= '0' && runes[i] <= '7'; most-- {
					n, i = n*8+runes[i]-'0', i+1
				}
				i--
				b.WriteRune(n)
				continue
			}
			if k := strings.IndexRune("abfnrtv", r); k >= 0 {
				r = rune("\a\b\f\n\r\t\v"[k])
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return "", -1
}
