package commands

import "context"

func showTodo(_ context.Context, s *Session) error {
	list := s.Agent.Todo().String()
	if list == "" {
		list = "the todo list is empty"
	}
	s.Print(list)
	return nil
}
