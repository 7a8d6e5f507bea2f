import * as fs from "node:fs";
import { dirname, resolve } from "node:path";
import { usage } from "../events/errors.ts";
import { handOver, type Owner, RegularFile } from "../machine/regular_file.ts";
import { whyNot } from "../machine/why_not.ts";
import { notWritable } from "./output_checks.ts";

/** A folder that files are written into; it is made where it is not there. `option`: what names it, as somebody types it. */
export function outputFolder(folder: string, owner: Owner | null, option: string): { write(name: string, bytes: Uint8Array): string } {
  try {
    // The first one that was not there; those within it are new, too.
    const made = fs.mkdirSync(folder, { recursive: true });
    if (made !== undefined && owner) {
      const paths = [];
      for (let path = resolve(folder); path.startsWith(made); path = dirname(path)) paths.push(path);
      // In a folder that others may write to, one may have become a link: what that leads to is nobody's to give away.
      for (const path of paths) if (!fs.lstatSync(path).isDirectory()) throw new Error(`${path} was exchanged while it was made`);
      for (const path of paths) handOver(path, owner);
    }
  } catch (cause) {
    throw usage(`Cannot write into ${folder}.`, whyNot(cause), `Name a folder: ${option}`);
  }
  return {
    /** Returns the file's path. */
    write(name, bytes) {
      const path = `${folder.replace(/(?<=.)\/+$/, "")}/${name}`;
      try {
        const file = RegularFile.create(path, owner);
        file.truncate();
        file.write(bytes);
        file.close();
      } catch (cause) {
        throw notWritable(path, cause, option);
      }
      return path;
    },
  };
}
