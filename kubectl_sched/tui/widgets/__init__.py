"""What the screens are made of; each widget draws lines that it is given and says which key was meant."""
