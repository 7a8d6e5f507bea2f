import type { KernelFiles } from "../machine/files.ts";

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
/** Of containerd by itself, and of the one in k3s and RKE2, in k0s, in microk8s. */
const containerds = ["/run/containerd", "/run/k3s/containerd", "/run/k0s/containerd", "/var/snap/microk8s/common/run/containerd"];
const tasks = "io.containerd.runtime.v2.task";

/**
 * Names that people use for containers, by id, from the state files of their runtimes: no daemon has to run, be asked or be trusted. Every id that
 * is asked for is in the answer, perhaps without a name (a container whose storage is elsewhere).
 */
export async function readContainerNames(files: KernelFiles, ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  const names = new Map<string, string[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return names;
  const [dockerFolders, taskFolders, stored] = await Promise.all([readDockerFolders(files), readTaskFolders(files), readStores(files)]);
  const places = [
    ...dockerFolders.map((folder) => ({ path: (id: string) => `${folder}/containers/${id}/config.v2.json`, namesIn: dockerNames })),
    ...taskFolders.map((folder) => ({ path: (id: string) => `${folder}/${id}/config.json`, namesIn: annotatedNames })),
  ];
  const asked = ids.flatMap((id) => places.map(({ path, namesIn }) => ({ id, path: path(id), namesIn })));
  const texts = await files.texts(asked.map(({ path }) => path));
  asked.forEach(({ id, namesIn }, i) => names.get(id)!.push(...namesIn(parse(texts[i]!))));
  for (const { id, names: known } of stored) names.get(id)?.push(...known);
  return names;
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
  return [...new Set([...dockers, ...told === null ? [] : [told]])];
}

/** One for each namespace of each containerd. */
async function readTaskFolders(files: KernelFiles): Promise<string[]> {
  const all = await Promise.all(containerds.map(async (folder) => {
    const namespaces = await files.list(`${folder}/${tasks}`);
    return namespaces.map((namespace) => `${folder}/${tasks}/${namespace}`);
  }));
  return all.flat();
}

/** What podman and CRI-O say of all their containers. */
async function readStores(files: KernelFiles): Promise<{ id: string; names: string[] }[]> {
  const [, told] = /^\s*graphroot\s*=\s*["']([^"']+)["']/m.exec(await files.text(storageSettings) ?? "") ?? [];
  const roots = [...new Set([storage, ...told === undefined ? [] : [told]])];
  const folders = (await Promise.all(roots.map(async (root) => (await files.list(root)).map((name) => `${root}/${name}`)))).flat()
    .filter((folder) => folder.endsWith("-containers"));
  const texts = await files.texts(folders.flatMap((folder) => stores.map((name) => `${folder}/${name}`)));
  return texts.flatMap((json) => {
    const entries: unknown = parse(json);
    return Array.isArray(entries) ? entries : [];
  }).map(({ id, names }) => ({ id: String(id), names: Array.isArray(names) ? names.map(String).flatMap(spelled) : [] }));
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
