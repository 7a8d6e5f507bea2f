import { LlmprofError } from "../events/errors.ts";

/** What is looked at beside a run: where no process can be started for it the look is left out, and the run goes on. */
export async function sideLook<Found, Otherwise>(look: Promise<Found>, otherwise: Otherwise): Promise<Found | Otherwise> {
  return await look.catch((error) => {
    if (error instanceof LlmprofError) return otherwise;
    throw error;
  });
}
