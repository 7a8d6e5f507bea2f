/** From here on nothing can be started: what is read was made by others. */
export async function giveUpRun(): Promise<void> {
  await Deno.permissions.revoke({ name: "run" });
}
