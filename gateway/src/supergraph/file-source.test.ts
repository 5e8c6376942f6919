import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileSource } from "./file-source.ts";
import { watchSupergraph } from "./supergraph-watcher.ts";

let volume: string;

beforeEach(() => void (volume = mkdtempSync(join(tmpdir(), "volume-"))));
afterEach(() => rmSync(volume, { recursive: true, force: true }));

test("each replacement of a mounted ConfigMap by the kubelet is noticed at once, without a poll", async () => {
  swap("..2026_11_21_10_00_00.1", "first");
  const { seen, end } = watch();
  expect(await seen()).toBe("first");
  for (const [folder, text] of [
    ["..2026_11_21_10_01_00.2", "second"],
    ["..2026_11_21_10_02_00.3", "third"],
    ["..2026_11_21_10_03_00.4", "fourth"],
  ] as const) {
    swap(folder, text);
    expect(await seen()).toBe(text);
  }
  end();
});

/** The target of the symlink `..data`. */
let current: string | undefined;
beforeEach(() => void (current = undefined));

/**
 * What the kubelet does with a volume of files (its AtomicWriter): the new files into a folder of their own, a second link to that, the
 * link renamed over `..data`, the old folder taken away. The name that is mounted is a link through `..data` and never changes.
 */
function swap(folder: string, text: string): void {
  mkdirSync(join(volume, folder));
  writeFileSync(join(volume, folder, "supergraph.graphql"), text);
  symlinkSync(folder, join(volume, "..data_tmp"));
  renameSync(join(volume, "..data_tmp"), join(volume, "..data"));
  if (current === undefined) symlinkSync(join("..data", "supergraph.graphql"), join(volume, "supergraph.graphql"));
  else rmSync(join(volume, current), { recursive: true });
  current = folder;
}

/** `seen` waits for the next text. Polls are an hour apart, so only a hint can cause a read. */
function watch() {
  const texts: string[] = [];
  let wake = () => {};
  const end = watchSupergraph({
    source: createFileSource(join(volume, "supergraph.graphql")),
    pollMs: 3_600_000,
    observe: () => {},
    onSupergraph(text) {
      texts.push(text);
      wake();
      return Promise.resolve();
    },
  });
  async function seen(): Promise<string | undefined> {
    if (texts.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return texts.shift();
  }
  return { seen, end };
}
