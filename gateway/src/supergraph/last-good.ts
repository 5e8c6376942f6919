// The last accepted supergraph on disk, for a start whose source is down or has none that can be used (`supergraph.last_good`).
import { open, readlink, realpath, rename, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { readRegularFile, requireRegularFile } from "@tributary/kit/process/regular-file";
import type { GatewayObserver } from "../observations.ts";

export interface LastGood {
  /** Undefined if there is none, or it cannot be read, which is reported. */
  read(): Promise<{ readonly text: string; readonly writtenAtMs: number } | undefined>;
  /** After the texts of earlier calls. A text that cannot be written is reported: the file keeps the one before. Never rejects. */
  write(text: string): Promise<void>;
}

export function createLastGood(file: string, observe: GatewayObserver): LastGood {
  let written = Promise.resolve();
  return {
    async read() {
      try {
        const [text, { mtimeMs }] = await Promise.all([readRegularFile(file), stat(file)]);
        return { text, writtenAtMs: mtimeMs };
      } catch (cause) {
        const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
        if (!isMissing) observe({ kind: "last-good-unreadable", file, cause });
        return undefined;
      }
    },
    write(text) {
      written = written
        .then(() => replaceFile(file, text))
        .catch((cause: unknown) => observe({ kind: "last-good-unwritable", file, cause }));
      return written;
    },
  };
}

/** Whenever the process or the machine stops, the file has either text, complete. */
async function replaceFile(path: string, text: string): Promise<void> {
  const file = await findTarget(path);
  // Of this process alone, if several share the folder. After a crash it remains, until a process with the same id writes.
  const temporary = `${file}.${hostname()}-${process.pid}.tmp`;
  await writeDurably(temporary, text);
  await rename(temporary, file);
  const folder = await open(dirname(file));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Of a symbolic link, also if its target does not exist yet. @throws Error if a FIFO, a device or a folder is there. */
async function findTarget(path: string): Promise<string> {
  try {
    const target = await realpath(path);
    requireRegularFile(target, await stat(target));
    return target;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : resolve(dirname(path), link);
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
