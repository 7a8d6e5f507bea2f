import { join } from "node:path";

const TRACING = "/sys/kernel/tracing/instances";

/** Answers of a disk that no BPF program can have seen. */
export interface HiddenAnswers extends Disposable {
  count(): number;
}

/**
 * Some kernels for sandboxes run no BPF program while a thread of their first process is on the processor, and count no miss either. A disk answers in an
 * interrupt, on top of whoever runs there: ftrace, which is no BPF program, says which answers of the device `7:0` came on top of one of these.
 */
export function hiddenAnswers(device: string): HiddenAnswers {
  const folder = join(TRACING, `llmprof-test-${Deno.pid}`);
  const [major, minor] = device.split(":").map(Number) as [number, number];
  const event = join(folder, "events/block/block_rq_complete");
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(join(folder, "buffer_size_kb"), "16384");
  Deno.writeTextFileSync(join(event, "filter"), `dev == ${major * 2 ** 20 + minor}`);
  Deno.writeTextFileSync(join(event, "enable"), "1");
  return {
    count() {
      const threads = new Set([...Deno.readDirSync("/proc/1/task")].map(({ name }) => name));
      return [...Deno.readTextFileSync(join(folder, "trace")).matchAll(/^.{1,16}-(\d+) .*block_rq_complete:/gm)].filter(([, tid]) =>
        threads.has(tid!)
      ).length;
    },
    [Symbol.dispose]() {
      Deno.writeTextFileSync(join(event, "enable"), "0");
      Deno.removeSync(folder);
    },
  };
}
