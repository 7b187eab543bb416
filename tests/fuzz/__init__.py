"""Fuzzing: mutated dumps, archives, manifests, configurations, kubeconfigs and messages, held to a few laws.

`python -m tests.fuzz --minutes 10` explores new cases of every target; `--target NAME` of one, `--cases N` so many,
`--seed N` those of that seed again. A case follows from its target and number alone.

- `bases.yaml` holds the small inputs that are mutated; `hostile` the texts and tokens that are put into them.
- `structures` mutates values, `encoders` writes them as JSON and YAML, `archives` packs them, `byte_mutations` damages
  the bytes.
- `targets` makes the cases: a command line and its files. `program` runs one within this process; nothing that it
  reads can start a program, reach a host or end the process.
- `laws` are what every case is held to, `shell` runs the printed commands in a real bash.
- `workers` bound time and memory; `findings` writes what broke a law, minimized, as a file that reproduces it. Those
  that were mended are in `corpus/`, and are run again with the tests.
"""
