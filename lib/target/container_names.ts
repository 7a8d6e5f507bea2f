import type { KernelFiles } from "../machine/files.ts";

/** Where podman and CRI-O keep what they know: one file for each storage driver, as `vfs-containers/containers.json`; of `--rm` another one. */
const storage = "/var/lib/containers/storage";
const stores = ["containers.json", "volatile-containers.json"];
const containerdTasks = "/run/containerd/io.containerd.runtime.v2.task";

/**
 * Names that people use for containers, by id, from the state files of their runtimes: no daemon has to run, be asked or be trusted. Every id that
 * is asked for is in the answer, perhaps without a name (a container whose storage is elsewhere).
 */
export async function readContainerNames(files: KernelFiles, ids: readonly string[]): Promise<Map<string, readonly string[]>> {
  const names = new Map<string, string[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return names;
  const [namespaces, stored] = await Promise.all([files.list(containerdTasks), readStores(files)]);
  const paths = (id: string) => [
    `/var/lib/docker/containers/${id}/config.v2.json`,
    ...namespaces.map((namespace) => `${containerdTasks}/${namespace}/${id}/config.json`),
  ];
  const texts = await files.texts(ids.flatMap(paths));
  ids.forEach((id, i) => {
    const [docker, ...containerd] = texts.slice(i * (namespaces.length + 1), (i + 1) * (namespaces.length + 1)).map(parse);
    const name = text(docker?.Name);
    // Docker keeps it as it was once a path: `/web`.
    if (name !== null) names.get(id)!.push(name.replace(/^\//, ""));
    for (const config of containerd) names.get(id)!.push(...annotatedNames(config?.annotations));
  });
  for (const { id, names: known } of stored) names.get(id)?.push(...known);
  return names;
}

/** Kubernetes calls a container by its pod and its own name, which is unique in its pod only; nerdctl by one name. */
function annotatedNames(annotations: unknown): string[] {
  const of = (name: string) => text((annotations as Record<string, unknown> | undefined)?.[name]);
  const [container, pod, nerdctl] = [of("io.kubernetes.cri.container-name"), of("io.kubernetes.cri.sandbox-name"), of("nerdctl/name")];
  return [container, container !== null && pod !== null ? `${pod}/${container}` : null, nerdctl].filter((name) => name !== null);
}

/** What podman and CRI-O say of all their containers. */
async function readStores(files: KernelFiles): Promise<{ id: string; names: string[] }[]> {
  const folders = (await files.list(storage)).filter((name) => name.endsWith("-containers"));
  const texts = await files.texts(folders.flatMap((folder) => stores.map((name) => `${storage}/${folder}/${name}`)));
  return texts.flatMap((json) => {
    const entries: unknown = parse(json);
    return Array.isArray(entries) ? entries : [];
  }).map(({ id, names }) => ({ id: String(id), names: Array.isArray(names) ? names.map(String) : [] }));
}

// deno-lint-ignore no-explicit-any
function parse(json: string | null): any {
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
