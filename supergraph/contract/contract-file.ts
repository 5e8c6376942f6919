// A file of a contract, as YAML or JSON, with the lines of its members for problems.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { Subgraph } from "../subgraphs.ts";

type Path = readonly (string | number)[];

export interface ContractFile {
  /** Relative to the repository's root, as errors print it. */
  readonly file: string;
  readonly value: unknown;
  readonly syntaxProblems: readonly CompositionError[];
  /** @param path the keys of the place in the file; the nearest one that exists has the line. */
  toProblem(message: string, path?: Path): CompositionError;
}

const aliasesMax = 1_000;

/** Without a file, or with an invalid one, `value` is null or undefined. */
export function openContractFile(
  root: string,
  file: string,
  { name, owner }: Pick<Subgraph, "name" | "owner">,
): ContractFile {
  const lines = new LineCounter();
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
  // JSON is YAML. The core schema: no tag creates anything but JSON values.
  const yaml = parseDocument(text, { lineCounter: lines, schema: "core", uniqueKeys: true });
  const toProblem: ContractFile["toProblem"] = (message, path = []) => {
    const offset = findOffset(yaml.contents, path);
    const { line, col } = offset === undefined ? { line: 1, col: 1 } : lines.linePos(offset);
    return { message, code: "CONTRACT_INVALID", subgraph: name, owner, file, line, column: col };
  };
  const syntaxProblems = yaml.errors.map(({ message, pos: [offset] }) => {
    const { line, col } = lines.linePos(offset);
    return { ...toProblem(message.split("\n")[0] ?? message), line, column: col };
  });
  if (syntaxProblems.length > 0) return { file, value: undefined, syntaxProblems, toProblem };
  try {
    // Aliases are limited, so that a small file cannot become a large one. As JSON, so that the overlay changes one place, not each alias of it.
    const value: unknown = JSON.parse(JSON.stringify(yaml.toJS({ maxAliasCount: aliasesMax }) ?? null));
    return { file, value, syntaxProblems, toProblem };
  } catch (error) {
    const message = `Its aliases cannot be resolved: ${error instanceof Error ? error.message : String(error)}`;
    return { file, value: undefined, syntaxProblems: [toProblem(message)], toProblem };
  }
}

/** Of the last key of the path that exists. */
function findOffset(contents: Node | null | undefined, path: Path): number | undefined {
  let node: unknown = contents;
  let offset: number | undefined;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) return offset;
      offset = isScalar(pair.key) ? pair.key.range?.[0] : offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(key)] as Node | undefined;
      if (item === undefined) return offset;
      offset = item.range?.[0];
      node = item;
    } else return offset;
  }
  return offset;
}
