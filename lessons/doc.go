// Package lessons reads lessons and walks learners through them.
//
// A lesson is a folder content/NN-name. Its number is NN, its id is name, and it holds a script and two texts:
//
//	script.txt   what happens: set-up, steps, predictions, goal, solutions
//	en.md zh.md  what is said about it, keyed by the names in the script (package lessons/render)
//
// The script speaks the language of package coordinator/sim/script; what a lesson adds are blocks around its commands.
// A block begins with a word in the first column; what belongs to it is indented by two spaces, what belongs to a
// prediction by four. `#` begins a comment.
//
//	setup                                  commands that lead to the start of the lesson
//	  brokers 3
//	  topic orders 6
//	  consumer c1 session=10s
//	  start c1
//	  until state Stable
//
//	step kill                              one beat, with one thought
//	  focus client c3                      the part of the stage it is about
//	  speed 1/10                           the speed at which it is best watched
//	  kill c3                              commands, run when the step begins
//	  predict end                          a question, asked before anything goes on
//	    option session event MemberRemoved why="session expired"
//	    option rejoin event MemberUpdated member=c3-1
//	    decide within=120s generation >= 5
//	  wait generation >= 5                 when the beat is over: a condition, never a time
//	  allow kill start                     commands that the learner may give in this step
//
//	step break                             a break-it challenge: the learner holds the network, the processes, the clock
//	  move lose drop c1 JoinGroup 1 answers  a button; its name has a text
//	  challenge par=1 members == 2         won when this holds; par is how many moves it takes at most
//	  hint purgatory                       where the first hint points, then the second, the third
//
//	goal stable state Stable               one clause of the goal; all must hold at once
//
//	win break                              commands that win the challenge of that step within par
//	  drop c1 JoinGroup 1 answers
//	  until members == 2
//
//	solution clean                         another way from the start to the goal than the steps are
//	  stop c3
//	  start c3
//	  until state Stable and members == 3
//
// A line `picture STEP` or `picture STEP CONDITION` says which moment the list of contents shows: how that step begins, or
// the first moment of it in which the condition holds. Without it that is the first question.
//
// A block `draft` at the top keeps a lesson that is being written from the list of contents.
//
// The first step runs no commands: a learner reads before anything moves. A step that has something to wait for stays
// until its condition has held once; conditions about events (`event KIND …`) look at what happened since the step
// began, its own commands included. Time does not pass beyond the end of a step before the learner goes on.
//
// The answer to a prediction is never written down. It is found by running a copy of the engine until the condition
// of `decide` holds and asking each option; exactly one must be true.
//
// Nothing here keeps time or does IO. The package carries no text for people, so that the tab stays small: texts are in
// the page already.
package lessons
