/** Examples and grouping words of the commands' help: what a person reads before the first try. */

export const groups = { target: "Target:", end: "End:", output: "Output:", tracing: "Tracing:", general: "General:" } as const;

export const examples: Readonly<Record<string, string>> = {
  coldstart: `
Target: one of --pid, --comm, --match, --container, or a program after --. Without one,
the next inference process to start is waited for.

Examples:
  sudo llmprof coldstart                                  wait for the next one to start
  sudo llmprof coldstart -- node engine.mjs model.gguf    start one
  sudo llmprof coldstart -o start.llmprof -- ./server     keep a recording
  llmprof coldstart --from start.llmprof                  explain it again, without root`,
  operators: `
Target: one of --pid, --comm, --match, --container, or a program after --.

Examples:
  sudo llmprof operators --pid 1234 --duration 10s        ten seconds of a running server
  sudo llmprof operators --comm llama-server --tokens 200 until 200 tokens are generated
  sudo llmprof operators --container llama --duration 10s all processes of a container
  sudo llmprof operators -- node engine.mjs model.gguf    start it, end with it
  sudo llmprof operators --pid 1234 --duration 10s --summary json | jq .result
  sudo llmprof operators --pid 1234 --detail wait         work and waiting for other workers apart
  sudo llmprof operators --pid 1234 --detail sum          operators added up in the kernel, one graph a second drawn
  sudo llmprof operators --pid 1234 --detail token        tokens alone, for next to nothing
  sudo llmprof operators --pid 1234 --every 30s --for 2s  two seconds of every thirty, until Ctrl-C
  sudo llmprof operators --pid 1234 --slower-than 1.5x    tokens alone, and operators when one was slow
  sudo llmprof operators --pid 1234 --max-overhead 2%     less detail, or nothing, where it would cost more
  sudo llmprof operators -- python3 model.py              PyTorch too: every operator, from the first one on
  sudo llmprof operators --pid 1234 --dry-run             what would be attached, and where`,
  gpu: `
Target: one of --pid, --comm, --match, --container, --all, or a program after --.

Examples:
  sudo llmprof gpu --pid 1234 --duration 10s              calls, copies, launches, memory of a running server
  sudo llmprof gpu --stacks -- python3 model.py           from the first call on; who asked for memory that is never freed
  sudo llmprof gpu --pid 1234 --cuda-jsonl calls.jsonl    a line of JSON for each CUDA call that does something
  sudo llmprof record --layers operators,gpu --pid 1234   and for each token
  llmprof gpu --list-calls                                which functions are understood
  llmprof gpu --list-calls -- libtorch_cuda.so            of those that a library asks for, or, as libze_loader.so.1, offers`,
  io: `
Target: one of --pid, --comm, --match, --container, --all, or a program after --; with --snapshots
everybody, where none is named.

Examples:
  sudo llmprof io -- node engine.mjs model.gguf           where a model's bytes come from
  sudo llmprof io --pid 1234 --duration 10s               ten seconds of a running server
  sudo llmprof io --comm llama-server --duration 10s --summary json | jq .result.devices
  sudo llmprof io --interval 5 --snapshots io.jsonl       sums of five seconds, of everybody, for days`,
  sched: `
Target: one of --pid, --comm, --match, --container, --all, or a program after --; with --snapshots
everybody, where none is named.

Examples:
  sudo llmprof sched --pid 1234 --duration 10s            ten seconds of a running server
  sudo llmprof sched -- node engine.mjs model.gguf        start it, end with it
  sudo llmprof sched --container llama --syscalls         and what each thread asks the kernel for
  sudo llmprof sched --pid 1234 --duration 5s --stacks    and from where it does
  sudo llmprof sched --pid 1234 --duration 10s --summary json | jq .result.verdict
  sudo llmprof sched --interval 5 --snapshots sched.jsonl`,
  record: `
Target: one of --pid, --comm, --match, --container, or a program after --.

Examples:
  sudo llmprof record --pid 1234 --duration 5s            operators, disks and threads on one timeline
  sudo llmprof record --layers coldstart,io -- ./server   where the bytes of a cold start come from
  sudo llmprof record --layers coldstart,gpu -- ./server  what of it is the GPU's
  sudo llmprof record --layers operators,sched --pid 1234 --tokens 50`,
  export: `
Formats: .pftrace (Perfetto), .json (Chrome), .jsonl (one event a line); graphs of operators: .dot (Graphviz), .mmd (Mermaid),
.graph.json. Each also with .gz.

Examples:
  llmprof export run.llmprof                              a trace for ui.perfetto.dev
  llmprof export run.llmprof -o run.json.gz -o run.jsonl
  llmprof export run.llmprof --no-output --summary json | jq .events`,
  report: `
Examples:
  llmprof report io.jsonl sched.jsonl                     figures, and their course, in the terminal
  llmprof report io.jsonl sched.jsonl --png pictures      and pictures with one time axis
  llmprof report io.jsonl --summary json | jq .result.devices`,
  doctor: `
Exit code 3 when this machine cannot trace.

Examples:
  llmprof doctor
  sudo llmprof doctor --calibrate                         measure what a hit costs, and what the machine can do
  sudo llmprof doctor                                     root sees more: what bpftrace can do
  sudo llmprof doctor --bpftrace /usr/local/bin/bpftrace-debian --summary json`,
  demo: `
Without --live it needs no root and no bpftrace: the recording is part of llmprof.

Examples:
  llmprof demo
  llmprof demo -o demo.json --summary json
  sudo llmprof demo --live                                in a clone of the sources`,
  completions: `
Examples:
  source <(llmprof completions bash)                      in ~/.bashrc
  source <(llmprof completions zsh)                       in ~/.zshrc
  llmprof completions fish > ~/.config/fish/completions/llmprof.fish`,
};
