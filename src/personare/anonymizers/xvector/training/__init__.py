"""How the neural voice is trained (extra neural): lessons, the task, the course, the export."""
