import assert from "node:assert/strict";
import { withMachine } from "../../tests/harness/fake_machine.ts";
import { openFiles } from "./open_files.ts";

Deno.test("open files: by the device of their mount and their inode, each once, and nothing that is no file", async () => {
  const machine = {
    "/proc/100/mountinfo": "29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n31 29 0:27 / /dev/shm rw - tmpfs shm rw\n" +
      "32 29 0:30 / /dev/hugepages rw - hugetlbfs pages rw\n",
    "/proc/100/fdinfo/3": "pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t11\n",
    "/proc/100/fdinfo/4": "pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t11\n",
    "/proc/100/fdinfo/5": "pos:\t0\nflags:\t0100000\nmnt_id:\t31\nino:\t12\n",
    "/proc/100/fdinfo/6": "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t13\n",
    "/proc/100/fdinfo/10": "pos:\t0\nmnt_id:\t31\nino:\t144115205322833921\n",
    "/proc/100/fdinfo/11": "pos:\t0\nmnt_id:\t31\nino:\t144115205322833922\n",
    "/proc/100/fdinfo/12": "pos:\t0\nmnt_id:\t31\nino:\t14\n",
    "/proc/100/fdinfo/13": "pos:\t0\nmnt_id:\t32\nino:\t15\n",
    "/proc/100/fdinfo/7": "pos:\t0\nflags:\t02\nmnt_id:\t29\n",
  };
  await withMachine(machine, async (files, root) => {
    await Deno.mkdir(`${root}/proc/100/fd`);
    const links = {
      3: "/models/a.gguf",
      4: "/models/a.gguf",
      5: "/run/b (deleted)",
      6: "/dev/null",
      7: "/before/5.14",
      8: "/gone",
      9: "pipe:[77]",
      10: "/1.gguf",
      11: "/2.gguf",
      12: "/dev/shm/weights (deleted)",
      13: "/dev/hugepages/cache",
    };
    for (const [fd, path] of Object.entries(links)) await Deno.symlink(path, `${root}/proc/100/fd/${fd}`);
    assert.deepEqual((await openFiles(files, 100)).toSorted((a, b) => a.inode - b.inode), [
      { dev: 254 * 2 ** 20, inode: 11, path: "/models/a.gguf" },
      { dev: 27, inode: 12, path: "/run/b" },
      { dev: 27, inode: 14, path: "/dev/shm/weights" },
      { dev: 30, inode: 15, path: "/dev/hugepages/cache" },
      { dev: 27, inode: 17246979825, path: "/1.gguf" },
      { dev: 27, inode: 17246979826, path: "/2.gguf" },
    ]);
    assert.deepEqual(await openFiles(files, 200), []);
  });
});
