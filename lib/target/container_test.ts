import assert from "node:assert/strict";
import { dirname } from "node:path";
import { FakeProc } from "../../tests/harness/fake_machine.ts";
import { temporary } from "../../tests/harness/temporary.ts";
import { containersIn, findContainer } from "./container.ts";
import { findTarget } from "./discover.ts";

const id = (digit: string) => digit.repeat(64);

Deno.test("container: the id is found in the control group of every runtime, with every driver", () => {
  const a = id("a");
  const layouts = [
    `0::/system.slice/docker-${a}.scope`,
    `0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${a}.scope/container`,
    `0::/machine.slice/libpod-${a}.scope`,
    `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c.slice/cri-containerd-${a}.scope`,
    `0::/kubepods.slice/kubepods-pod2f1c.slice/crio-${a}.scope`,
    `0::/system.slice/nerdctl-${a}.scope`,
    `12:pids:/docker/${a}\n0::/`,
    `9:name=systemd:/libpod_parent/libpod-${a}\n0::/`,
    `4:memory:/kubepods/besteffort/pod2f1c-4b/${a}`,
    `0::/default/${a}`,
    `0::/system.slice/kubepods-pod2f1c.slice:cri-containerd:${a}`,
  ];
  for (const layout of layouts) assert.deepEqual(containersIn(`${layout}\n`), [a], layout);
  assert.deepEqual(containersIn(`0::/docker/${a}/docker/${id("b")}\n`), [a, id("b")], "one inside another");
  const others = ["0::/", "0::/user.slice/session-3.scope", `0::/machine.slice/libpod-conmon-${a}.scope`, `0::/docker/${a.slice(1)}`];
  for (const other of others) assert.deepEqual(containersIn(`${other}\n`), [], other);
});

/** Five containers of three runtimes, one with processes that are not its first one's children. */
function machine(root: string) {
  const proc = new FakeProc(root);
  const write = (path: string, content: string) => {
    Deno.mkdirSync(dirname(root + path), { recursive: true });
    Deno.writeTextFileSync(root + path, content);
  };
  const process = (pid: number, ppid: number, cgroup: string, startTicks = 100, state = "S") => {
    proc.process(pid, ppid, "server", state, startTicks);
    write(`/proc/${pid}/cgroup`, `0::${cgroup}\n`);
  };
  process(1, 0, "/init.scope");
  process(20, 1, `/system.slice/docker-${id("1")}.scope`, 300);
  process(21, 20, `/system.slice/docker-${id("1")}.scope`, 310);
  process(19, 1, `/system.slice/docker-${id("1")}.scope`, 400);
  process(22, 1, `/system.slice/docker-${id("1")}.scope`, 100, "Z");
  process(30, 1, `/machine.slice/libpod-${id("2")}.scope/container`);
  process(31, 1, `/machine.slice/libpod-${id("8")}.scope/container`);
  process(40, 1, `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${id("3")}.scope`);
  process(50, 1, `/kubepods.slice/kubepods-pod2.slice/cri-containerd-${id("34").slice(0, 64)}.scope`);
  process(60, 1, `/default/${id("5")}`);
  write(`/var/lib/docker/containers/${id("1")}/config.v2.json`, JSON.stringify({ ID: id("1"), Name: "/web" }));
  write(
    "/var/lib/containers/storage/overlay-containers/containers.json",
    JSON.stringify([{ id: id("2"), names: ["llama"] }, { id: id("9"), names: ["stopped"] }]),
  );
  // Of podman run --rm.
  write("/var/lib/containers/storage/overlay-containers/volatile-containers.json", JSON.stringify([{ id: id("8"), names: ["passing"] }]));
  const tasks = "/run/containerd/io.containerd.runtime.v2.task";
  const pod = { "io.kubernetes.cri.container-name": "engine", "io.kubernetes.cri.sandbox-name": "chat-0" };
  write(`${tasks}/k8s.io/${id("3")}/config.json`, JSON.stringify({ annotations: pod }));
  write(
    `${tasks}/k8s.io/${id("34").slice(0, 64)}/config.json`,
    JSON.stringify({ annotations: { ...pod, "io.kubernetes.cri.sandbox-name": "chat-1" } }),
  );
  write(`${tasks}/default/${id("5")}/config.json`, JSON.stringify({ annotations: { "nerdctl/name": "solo" } }));
  // Half written.
  write(`${tasks}/default/${id("1")}/config.json`, '{"annot');
  return proc.files;
}

Deno.test("container: found by name or by the beginning of its id, with all of its processes and its first", async () => {
  using root = temporary();
  const files = machine(root.path);
  assert.deepEqual(await findContainer(files, "web"), { id: id("1"), pids: [19, 20, 21], root: 20, others: [30, 31, 40, 50, 60] });
  for (
    const [asked, pid] of [["llama", 30], ["2222", 30], ["passing", 31], ["chat-0/engine", 40], [id("3"), 40], ["solo", 60], ["5555555", 60]] as const
  ) {
    assert.equal((await findContainer(files, asked)).root, pid, asked);
  }
});

Deno.test("container: several of one name, and none, are told with what can be typed instead", async () => {
  using root = temporary();
  const files = machine(root.path);
  await assert.rejects(findContainer(files, "engine"), (error: Error & { exitCode: number; next: string }) => {
    assert.equal(error.exitCode, 2);
    assert.match(error.message, /2 containers match --container engine/);
    assert.match(error.next, /--container 333333333333 {2}engine, chat-0\/engine\n {2}--container 343434343434 {2}engine, chat-1\/engine/);
    return true;
  });
  // Too short for an id; of a container that does not run.
  for (const asked of ["555", "stopped", "9999"]) await assert.rejects(findContainer(files, asked), /No container matches/);
  using empty = temporary();
  await assert.rejects(findContainer(new FakeProc(empty.path).files, "web"), /None runs here/);
});

Deno.test("container: what is started in its process numbers later is its own where no other container has the same, and not where one has", async () => {
  using root = temporary();
  const files = machine(root.path);
  const inNamespace = (pid: number | "self", namespace: number) => {
    Deno.mkdirSync(root.file(`proc/${pid}/ns`), { recursive: true });
    Deno.symlinkSync(`pid:[${namespace}]`, root.file(`proc/${pid}/ns/pid`));
  };
  inNamespace("self", 1);
  // Two of a pod share theirs; `solo` has another one inside of it that uses the same; `llama` uses the machine's.
  for (const [pid, namespace] of [[40, 7], [50, 7], [60, 8], [61, 8], [20, 9], [30, 1], [31, 10]] as const) inNamespace(pid, namespace);
  new FakeProc(root.path).process(61, 60, "server");
  Deno.writeTextFileSync(root.file("proc/61/cgroup"), `0::/default/${id("5")}/docker/${id("6")}\n`);
  const found = (container: string) => findTarget(files, { by: "container", container }, 1);
  const namespaces = ["chat-0/engine", "chat-1/engine", "solo", "web", "llama", "passing"].map(async (name) => (await found(name)).pidNamespace);
  assert.deepEqual(await Promise.all(namespaces), [undefined, undefined, 8, 9, undefined, 10]);
  assert.deepEqual((await found("solo")).pids, [60, 61]);
  // The one inside shares with the one around it.
  assert.equal((await found("6666")).pidNamespace, undefined);
});

Deno.test("container: names are found where docker gives users numbers of their own, and of who runs containers without root, for whose alone they hold", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const write = (path: string, content: string) => {
    Deno.mkdirSync(dirname(root.path + path), { recursive: true });
    Deno.writeTextFileSync(root.path + path, content);
  };
  const slice = (user: number) => `/user.slice/user-${user}.slice/user@${user}.service/user.slice`;
  const groups = [
    `/system.slice/docker-${id("1")}.scope`,
    `${slice(1000)}/libpod-${id("2")}.scope/container`,
    `${slice(1001)}/docker-${id("3")}.scope`,
    `${slice(1002)}/libpod-${id("4")}.scope/container`,
    // Somebody has a group with the name of another's container.
    `${slice(1001)}/docker-${id("1")}.scope`,
  ];
  groups.forEach((group, i) => {
    proc.process(i + 1, 0, "server");
    write(`/proc/${i + 1}/cgroup`, `0::${group}\n`);
  });
  const users = [
    "root:x:0:0::/root:/bin/sh",
    "ann:x:1000:1000:Ann,,:/home/ann:/bin/sh",
    "bob:x:1001:1001::/data/bob:",
    "eve:x:1002:1002::/home/eve:",
  ];
  write("/etc/passwd", `${users.join("\n")}\n`);
  write(`/var/lib/docker/100000.100000/containers/${id("1")}/config.v2.json`, JSON.stringify({ Name: "/remapped" }));
  const stored = (container: string, name: string) => ({ id: container, names: [name] });
  const storage = ".local/share/containers/storage/overlay-containers";
  const anns = [stored(id("2"), "anns"), stored(id("1"), "stolen"), stored(id("3"), "stolen")];
  write(`/home/ann/${storage}/containers.json`, JSON.stringify([null, { id: {}, names: 1 }, { id: id("2"), names: [{ toString: 1 }] }, ...anns]));
  for (const [digit, name] of [["3", "bobs"], ["1", "stolen"], ["2", "stolen"]] as const) {
    write(`/data/bob/.local/share/docker/containers/${id(digit)}/config.v2.json`, JSON.stringify({ Name: `/${name}` }));
  }
  Deno.mkdirSync(root.file(`home/eve/${storage}`), { recursive: true });
  Deno.symlinkSync("/dev/zero", root.file(`home/eve/${storage}/containers.json`));
  for (const [asked, pid] of [["remapped", 1], ["anns", 2], ["bobs", 3], ["4444", 4]] as const) {
    assert.equal((await findContainer(proc.files, asked)).root, pid, asked);
  }
  await assert.rejects(findContainer(proc.files, "stolen"), /No container matches/);
});

Deno.test("container: names are found where other distributions of a runtime, and settings, put them", async () => {
  using root = temporary();
  const proc = new FakeProc(root.path);
  const write = (path: string, content: string) => {
    Deno.mkdirSync(dirname(root.path + path), { recursive: true });
    Deno.writeTextFileSync(root.path + path, content);
  };
  const docker = (folder: string, container: string, Name: string) =>
    write(`${folder}/containers/${container}/config.v2.json`, JSON.stringify({ Name }));
  const task = (folder: string, container: string, name: string) =>
    write(
      `${folder}/io.containerd.runtime.v2.task/k8s.io/${container}/config.json`,
      JSON.stringify({ annotations: { "io.kubernetes.cri.container-name": name } }),
    );
  const stored = (container: string, ...names: string[]) => ({ id: container, names });
  for (let i = 1; i < 9; i++) {
    proc.process(i, 0, "server");
    write(`/proc/${i}/cgroup`, `0::/system.slice/docker-${id(String(i))}.scope\n`);
  }
  write("/etc/docker/daemon.json", JSON.stringify({ "data-root": "/data/docker" }));
  docker("/data/docker", id("1"), "/elsewhere");
  docker("/var/snap/docker/common/var-lib-docker", id("2"), "/k8s_snapped_chat-0_default_2f1c-4b_0");
  task("/run/k3s/containerd", id("3"), "rancher");
  task("/run/k0s/containerd", id("4"), "zero");
  task("/var/snap/microk8s/common/run/containerd", id("5"), "micro");
  write("/etc/containers/storage.conf", '[storage]\ndriver = "overlay"\ngraphroot = "/data/containers"\n');
  write("/data/containers/overlay-containers/containers.json", JSON.stringify([stored(id("6"), "moved")]));
  write(
    "/var/lib/containers/storage/overlay-containers/containers.json",
    JSON.stringify([stored(id("7"), "k8s_engine_chat-1_default_2f1c-4b_12"), stored(id("8"), "k8s_of_my_own")]),
  );
  for (
    const [asked, pid] of [
      ["elsewhere", 1],
      ["snapped", 2],
      ["chat-0/snapped", 2],
      ["rancher", 3],
      ["zero", 4],
      ["micro", 5],
      ["moved", 6],
      ["engine", 7],
      ["chat-1/engine", 7],
      ["k8s_engine_chat-1_default_2f1c-4b_12", 7],
      ["k8s_of_my_own", 8],
    ] as const
  ) assert.equal((await findContainer(proc.files, asked)).root, pid, asked);
});
