import type { KernelFiles } from "../machine/files.ts";
import { foreignTexts } from "./foreign_text.ts";

/**
 * Where podman and CRI-O keep what they know, unless they are told otherwise: one file for each storage driver, as `vfs-containers/containers.json`; of
 * `--rm` another one.
 */
const storage = "/var/lib/containers/storage";
const storageSettings = "/etc/containers/storage.conf";
const stores = ["containers.json", "volatile-containers.json"];
/** Of docker, and of the one that comes as a snap. */
const dockers = ["/var/lib/docker", "/var/snap/docker/common/var-lib-docker"];
const dockerSettings = "/etc/docker/daemon.json";
/** Where docker gives containers numbers of users of their own (userns-remap): a folder below its own, of the first user's and group's. */
const remapped = /^\d+\.\d+$/;
/** Below the home of a user who runs them without root: podman's, with the storage drivers that need none, and docker's. */
const rootless = { podman: ".local/share/containers/storage", drivers: ["overlay", "vfs", "btrfs"], docker: ".local/share/docker" };
/** Of containerd by itself, and of the one in k3s and RKE2, in k0s, in microk8s. */
const containerds = ["/run/containerd", "/run/k3s/containerd", "/run/k0s/containerd", "/var/snap/microk8s/common/run/containerd"];
const tasks = "io.containerd.runtime.v2.task";

/** Whose names are asked for. `user`: who runs it without root. */
interface Nameless {
  readonly id: string;
  readonly user: number | null;
}

interface Named {
  readonly id: string;
  readonly names: readonly string[];
}

/** Reads many files, in the order asked for. */
type ReadTexts = (paths: readonly string[]) => Promise<(string | null)[]>;

/**
 * Names that people use for containers, by id, from the state files of their runtimes: no daemon has to run, be asked or be trusted. Every id that
 * is asked for is in the answer, perhaps without a name (a container whose storage is elsewhere).
 */
export async function readContainerNames(files: KernelFiles, containers: readonly Nameless[]): Promise<Map<string, readonly string[]>> {
  const names = new Map<string, string[]>(containers.map(({ id }) => [id, []]));
  if (containers.length === 0) return names;
  const found = await Promise.all([namesOfMachine(files, [...names.keys()]), namesOfUsers(files, containers)]);
  for (const { id, names: known } of found.flat()) names.get(id)?.push(...known);
  return names;
}

async function namesOfMachine(files: KernelFiles, ids: readonly string[]): Promise<Named[]> {
  const read: ReadTexts = (paths) => files.texts(paths);
  const [dockerFolders, taskFolders, storeFolders] = await Promise.all([readDockerFolders(files), readTaskFolders(files), readStoreFolders(files)]);
  const found = await Promise.all([
    namesIn(read, ids, dockerFolders.map(dockerPath), dockerNames),
    namesIn(read, ids, taskFolders.map((folder) => (id) => `${folder}/${id}/config.json`), annotatedNames),
    storedNames(read, storeFolders),
  ]);
  return found.flat();
}

/** A user says what the user's own containers are called, and nothing of others'. */
async function namesOfUsers(files: KernelFiles, containers: readonly Nameless[]): Promise<Named[]> {
  const users = Map.groupBy(containers.filter(({ user }) => user !== null), ({ user }) => user!);
  if (users.size === 0) return [];
  const homes = await readHomes(files);
  const read: ReadTexts = (paths) => foreignTexts(files, paths);
  const found = await Promise.all([...users].map(async ([user, own]) => {
    const home = homes.get(user), ids = own.map(({ id }) => id);
    if (home === undefined) return [];
    const named = await Promise.all([
      namesIn(read, ids, [dockerPath(`${home}/${rootless.docker}`)], dockerNames),
      storedNames(read, rootless.drivers.map((driver) => `${home}/${rootless.podman}/${driver}-containers`)),
    ]);
    return named.flat().filter(({ id }) => ids.includes(id));
  }));
  return found.flat();
}

/** By the number of the user. */
async function readHomes(files: KernelFiles): Promise<Map<number, string>> {
  const lines = (await files.text("/etc/passwd") ?? "").split("\n").map((line) => line.split(":"));
  return new Map(lines.flatMap(([, , user, , , home]) => home?.startsWith("/") ? [[Number(user), home] as const] : []));
}

/** Of runtimes that keep a file for each container. */
async function namesIn(
  read: ReadTexts,
  ids: readonly string[],
  paths: readonly ((id: string) => string)[],
  namesOf: (config: Config) => string[],
): Promise<Named[]> {
  const asked = ids.flatMap((id) => paths.map((path) => ({ id, path: path(id) })));
  const texts = await read(asked.map(({ path }) => path));
  return asked.map(({ id }, i) => ({ id, names: namesOf(parse(texts[i]!)) }));
}

function dockerPath(folder: string): (id: string) => string {
  return (id) => `${folder}/containers/${id}/config.v2.json`;
}

/** Kubernetes calls a container by its pod and its own name, which is unique in its pod only; nerdctl by one name. */
function annotatedNames(config: Config): string[] {
  const of = (name: string) => text(config?.annotations?.[name]);
  const [container, pod, nerdctl] = [of("io.kubernetes.cri.container-name"), of("io.kubernetes.cri.sandbox-name"), of("nerdctl/name")];
  return [container, container !== null && pod !== null ? `${pod}/${container}` : null, nerdctl].filter((name) => name !== null);
}

/** Docker keeps it as it was once a path: `/web`. */
function dockerNames(config: Config): string[] {
  const name = text(config?.Name);
  return name === null ? [] : spelled(name.replace(/^\//, ""));
}

/** CRI-O and cri-dockerd make one name of all, with underscores where a name of Kubernetes has none: `k8s_engine_chat-0_default_UID_0`. */
function spelled(name: string): string[] {
  const [, container, pod] = /^k8s_([^_]+)_([^_]+)_[^_]+_[^_]+_\d+$/.exec(name) ?? [];
  return container === undefined ? [name] : [container, `${pod}/${container}`, name];
}

async function readDockerFolders(files: KernelFiles): Promise<string[]> {
  const told = text(parse(await files.text(dockerSettings))?.["data-root"]);
  const folders = [...new Set([...dockers, ...told === null ? [] : [told]])];
  const below = await Promise.all(folders.map(async (folder) => (await files.list(folder)).map((name) => ({ folder, name }))));
  return [...folders, ...below.flat().flatMap(({ folder, name }) => remapped.test(name) ? [`${folder}/${name}`] : [])];
}

/** One for each namespace of each containerd. */
async function readTaskFolders(files: KernelFiles): Promise<string[]> {
  const all = await Promise.all(containerds.map(async (folder) => {
    const namespaces = await files.list(`${folder}/${tasks}`);
    return namespaces.map((namespace) => `${folder}/${tasks}/${namespace}`);
  }));
  return all.flat();
}

/** One for each storage driver of each storage. */
async function readStoreFolders(files: KernelFiles): Promise<string[]> {
  const [, told] = /^\s*graphroot\s*=\s*["']([^"']+)["']/m.exec(await files.text(storageSettings) ?? "") ?? [];
  const roots = [...new Set([storage, ...told === undefined ? [] : [told]])];
  const folders = await Promise.all(roots.map(async (root) => (await files.list(root)).map((name) => `${root}/${name}`)));
  return folders.flat().filter((folder) => folder.endsWith("-containers"));
}

/** What podman and CRI-O say of all their containers. */
async function storedNames(read: ReadTexts, folders: readonly string[]): Promise<Named[]> {
  const texts = await read(folders.flatMap((folder) => stores.map((name) => `${folder}/${name}`)));
  return texts.flatMap((json) => listed(parse(json))).map((entry) => ({
    id: text(entry?.id) ?? "",
    names: listed(entry?.names).flatMap((name) => spelled(text(name) ?? "")),
  }));
}

function listed(value: Config): Config[] {
  return Array.isArray(value) ? value : [];
}

/** Whatever a file says. */
// deno-lint-ignore no-explicit-any
type Config = any;

function parse(json: string | null): Config {
  try {
    return JSON.parse(json ?? "null");
  } catch {
    // Half written, or somebody else's: a container without a name can still be named by its id.
    return null;
  }
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
