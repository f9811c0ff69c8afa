package observe

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPropertiesAsJavaReadsThem(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"three separators":               {"a=1\nb:2\nc 3\nd\t4\n", "a=1;b=2;c=3;d=4"},
		"white space around":             {"  a  =  1  \n\fb\t:\t2\n", "a=1  ;b=2"},
		"two separators":                 {"a==1\nb:=2\nc = : 3\n", "a==1;b==2;c=: 3"},
		"comments and blank lines":       {"# a=1\n  ! b=2\n\n   \nc=3 # not one\n", "c=3 # not one"},
		"key alone":                      {"a\nb=\n", "a=;b="},
		"continued":                      {"a=1,\\\n   2,\\\r\n\t3\nb=4", "a=1,2,3;b=4"},
		"a continued line is no comment": {"a=1\\\n# 2\n", "a=1# 2"},
		"two backslashes continue not":   {"a=1\\\\\nb=2\n", "a=1\\;b=2"},
		"a comment is not continued":     {"# a\\\nb=2\n", "b=2"},
		"backslash at the end":           {"a=1\\", "a=1"},
		"escapes":                        {`a\ b\=\:\#=x\ty\nz\q\\`, "a b=:#=x\ty\nzq\\"},
		"unicode":                        {`k=\u00fc\uD83D\uDE00\u4e2d`, "k=ü😀中"},
		"lone surrogate":                 {`k=\uD83Dx`, "k=\uFFFDx"},
		"the last one stays":             {"a=1\nb=2\na=3\n", "a=3;b=2"},
		"carriage returns":               {"a=1\rb=2\r\rc=3", "a=1;b=2;c=3"},
		"UTF-8":                          {"k=grün", "k=grün"},
		"ISO 8859-1":                     {"k=gr\xfcn", "k=grün"},
		"byte order mark":                {"\uFEFFk=v", "k=v"},
		"nothing":                        {"", ""},
	} {
		list, err := parseProperties([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range list {
			got = append(got, p.key+"="+p.value)
		}
		if text := strings.Join(got, ";"); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
	for text, want := range map[string]string{
		"a=1\nb=\\u00g0":    `line 2: the value of "b": \u takes four hexadecimal digits, as in \u00fc`,
		"a\\\n\\u12":        `line 1: \u takes four hexadecimal digits, as in \u00fc`,
		"\n\n#\na=1\\u+123": `line 4: the value of "a": \u takes four hexadecimal digits, as in \u00fc`,
	} {
		if _, err := parseProperties([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func TestPropertiesNameTheirLines(t *testing.T) {
	list, err := parseProperties([]byte("# one\na=1,\\\n 2\n\nb=3\n"))
	if err != nil || len(list) != 2 || list[0].line != 2 || list[1].line != 5 {
		t.Errorf("%+v, %v: a begins in line 2, b in line 5", list, err)
	}
}

// FuzzProperties: nothing panics, and what was read and is written out with every character escaped is read as the same.
func FuzzProperties(f *testing.F) {
	for _, text := range []string{"a=1\\\n 2", "k=\\uD83D\\uDE00", "\\", "=\n:", "a\\ b = c\\", "\xff=\xfe", "#\\\nx"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseProperties(text)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, p := range list {
			b.WriteString(escape(p.key) + "=" + escape(p.value) + "\n")
		}
		again, err := parseProperties([]byte(b.String()))
		if err != nil || len(again) != len(list) {
			t.Fatalf("%q became %q: %d entries instead of %d, %v", text, b.String(), len(again), len(list), err)
		}
		for i, p := range list {
			if again[i].key != p.key || again[i].value != p.value {
				t.Fatalf("entry %d is %q=%q, then %q=%q", i, p.key, p.value, again[i].key, again[i].value)
			}
			if !utf8.ValidString(p.key + p.value) {
				t.Fatalf("entry %d is no UTF-8", i)
			}
		}
	})
}

func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

func FuzzJAAS(f *testing.F) {
	f.Add(`a.PlainLoginModule required username="x" password='y\101';`)
	f.Add(`/* c */ A required; // d`)
	f.Fuzz(func(t *testing.T, text string) { _, _ = parseJAAS(text) })
}

func TestJAASAsKafkaReadsIt(t *testing.T) {
	l, err := parseJAAS(`/* the module */ org.apache.kafka.common.security.plain.PlainLoginModule required // who
		username="al\"ice" password='s3;cr=et\101\n' serviceName=kafka;`)
	if err != nil || l.module != "org.apache.kafka.common.security.plain.PlainLoginModule" || l.options["username"] != `al"ice` ||
		l.options["password"] != "s3;cr=etA\n" || l.options["serviceName"] != "kafka" {
		t.Errorf("got %+v, %v", l, err)
	}
	for text, want := range map[string]string{
		`A required username="secret"`:         "the ; at the end is missing",
		`A required username="secret`:          "a quotation mark is missing",
		`A username="secret" ;`:                "there is no flag (required)",
		`A required username "secret";`:        `an option is no NAME="VALUE"`,
		`A required; B required;`:              "only one login module is possible",
		`A required /* username="secret";`:     "a comment does not end",
		``:                                     "it takes CLASS required",
		`A required username="a" password="b"`: "the ; at the end is missing",
	} {
		if _, err := parseJAAS(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want … %s …, without the value", text, err, want)
		}
	}
}
