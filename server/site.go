package main

import (
	"flag"
	"fmt"
	"io"

	"grouplab/server/app"
)

// site writes the lessons as static files into a folder.
func site(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("site", flag.ContinueOnError)
	flags.SetOutput(complaints)
	feedback := ""
	flags.Func("feedback", "`ADDRESS`: who is written to", func(text string) (err error) {
		feedback, err = app.ParseFeedback(text)
		return err
	})
	flags.Usage = func() { fmt.Fprintln(complaints, "usage: server site [-feedback ADDRESS] DIR") }
	if err := flags.Parse(args); err != nil {
		return 2 // the flags have said why
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	dir := flags.Arg(0)
	if err := app.WriteSite(dir, feedback); err != nil {
		fmt.Fprintln(complaints, err)
		return 1
	}
	fmt.Fprintf(out, "site: %s\n", dir)
	return 0
}
