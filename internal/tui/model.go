package tui

import (
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/idelchi/aura/internal/commands"
	"github.com/idelchi/aura/internal/line"
)

// model is the screen: what it shows and what the keys do. It belongs to the
// goroutine of the program.
type model struct {
	ui     *UI
	resume string // The session to begin with.
	size

	log    transcript
	blocks blockWriter // Of log.
	input  *line.Editor
	menu   menu
	files  fileList

	state state
	lists lists
	run   activity

	asks []*question // The first one is shown.
	pick *picker
	find *finder

	view toggles
}

// size is that of the terminal.
type size struct{ width, height int }

// toggles are choices about the display.
type toggles struct {
	noMouse bool
	prefix  bool // Ctrl+X was pressed.
	quit    bool // Ctrl+C was pressed while idle.
	flash   string
}

// activity is what the session does.
type activity struct {
	jobs    int // Handed over and not ended.
	started bool
	since   time.Time
	frame   int
	ticking bool
	handler string
	retry   time.Time // When the request is sent again; zero if it need not.
	asked   bool      // To cancel.
	queue   []string
	held    bool // What is queued comes back to the user, one by one, instead of being sent.
}

// finder is a search in the transcript.
type finder struct {
	field *line.Editor
	at    place
	miss  bool
}

func newModel(u *UI, resume string) *model {
	m := &model{
		ui:     u,
		resume: resume,
		size:   size{80, 24},
		input:  line.New(line.Options{History: u.history.Entries, FoldPastes: true}),
	}
	m.blocks = blockWriter{log: &m.log, painter: &painter{}, calls: map[string]*entry{}}
	return m
}

// Init starts the session.
func (m *model) Init() tea.Cmd {
	m.log.add(
		&note{
			sign:  "✻",
			style: magenta,
			body:  none,
			words: strings.TrimSpace("aura " + m.ui.opts.Version + "  ·  / for commands, @ for files, F1 for help"),
		},
		false,
	)
	return m.do(start(m.resume))
}

type tick struct{}

const tickEvery = 100 * time.Millisecond

func ticker() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tick{} }) }

// do hands a job to the session.
func (m *model) do(j job) tea.Cmd {
	select {
	case m.ui.jobs <- j:
	default:
		m.view.flash = "too much at once"
		return nil
	}
	if m.run.jobs++; m.run.jobs == 1 {
		m.run.since, m.run.asked, m.run.retry = time.Now(), false, time.Time{}
	}
	if m.run.ticking {
		return nil
	}
	m.run.ticking = true
	return ticker()
}

// Update takes a message.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil { // A bug of ours: the terminal must be left in order.
			m.ui.crash(v)
			next, cmd = m, nil
		}
	}()
	if m.ui.hook != nil {
		m.ui.hook(msg)
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case batch:
		return m, m.take(msg)
	case tick:
		m.run.frame++
		if m.run.jobs == 0 {
			m.run.ticking = false
			return m, nil
		}
		return m, ticker()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
		return m, m.needFiles()
	case tea.MouseWheelMsg:
		m.wheel(msg.Mouse())
	case tea.MouseClickMsg:
		m.click(msg.Mouse())
	case filesFound:
		m.files = fileList{list: msg, at: time.Now()}
		m.complete()
	case edited:
		m.edited(msg)
	}
	return m, nil
}

func (m *model) paste(s string) {
	switch {
	case len(m.asks) > 0:
		m.asks[0].field.Paste(s)
	case m.pick != nil:
		m.pick.filter.Paste(s)
		m.pick.search()
	case m.find != nil:
		m.find.field.Paste(s)
	default:
		m.input.Paste(s)
		m.complete()
	}
}

func (m *model) wheel(e tea.Mouse) {
	by := 3
	if e.Button == tea.MouseWheelUp {
		by = -3
	}
	switch {
	case m.pick != nil:
		m.pick.at = max(0, min(m.pick.at+by/3, len(m.pick.found)-1))
	case len(m.asks) > 0 && e.Y >= m.log.height:
		m.asks[0].preview.scroll(by)
	default:
		m.log.scroll(by)
	}
}

func (m *model) click(e tea.Mouse) {
	if m.pick == nil && e.Button == tea.MouseLeft && e.Y < len(m.log.owners) {
		m.log.toggle(m.log.owners[e.Y])
	}
}

// send submits what the user said, or queues it while a turn runs.
func (m *model) send(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.log.end()
	if name, args, ok := commands.Parse(text); ok && name == "help" && args == "" {
		m.help()
		return nil
	}
	if m.run.jobs > 0 {
		m.run.queue = append(m.run.queue, text)
		return nil
	}
	if name, args, ok := commands.Parse(text); ok {
		if cmd, done := m.local(name, args); done {
			return cmd
		}
		m.log.add(&said{words: text, command: true}, true)
	}
	return m.do(submit(text))
}

// local handles commands without arguments that are better shown as a list.
func (m *model) local(name, args string) (tea.Cmd, bool) {
	if args != "" {
		return nil, false
	}
	switch name {
	case "agent":
		m.pick = newPicker("Agents", options(m.lists.agents), command("agent"))
	case "mode":
		m.pickMode()
	case "model":
		return m.do(listModels()), true
	case "resume", "sessions":
		return m.do(listSessions()), true
	default:
		return nil, false
	}
	return nil, true
}

// ended takes the end of a job, and begins what waits.
func (m *model) ended(e *ended) tea.Cmd {
	m.run.jobs = max(m.run.jobs-1, 0)
	if e.renewed {
		m.replay(e)
	}
	m.blocks.finish()
	if errors.Is(e.err, commands.ErrExit) {
		return tea.Quit
	}
	switch list := e.result.(type) {
	case pickModels:
		if e.err == nil {
			m.pick = newPicker("Models", options(list), command("model"))
		}
	case pickSessions:
		if e.err == nil {
			m.showSessions(list)
		}
	case string:
		m.view.flash = list
	case remark:
		m.blocks.note("~", yellow, "", string(list))
	}
	switch {
	case e.cancelled:
		m.blocks.note("■", yellow, "", "interrupted")
		m.run.held = true
	case e.err != nil:
		m.blocks.note("✗", red, "", "error: "+e.err.Error())
	}
	if m.giveBack(); m.run.jobs == 0 && len(m.run.queue) > 0 && !m.run.held {
		next := m.run.queue[0]
		m.run.queue = m.run.queue[1:]
		return m.send(next)
	}
	return nil
}

// giveBack puts the next input that was queued for a turn that was cancelled where it
// can be sent, changed or dropped (Ctrl+C).
func (m *model) giveBack() {
	if len(m.run.queue) == 0 {
		m.run.held = false
	}
	if !m.run.held || m.run.jobs > 0 || !m.input.Empty() {
		return
	}
	m.input.Set(m.run.queue[0])
	m.run.queue = m.run.queue[1:]
	m.run.held = len(m.run.queue) > 0
}

func firstOf(list ...string) string {
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
