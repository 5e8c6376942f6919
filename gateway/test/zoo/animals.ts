import type { Animal } from "./animal.ts";
import { keysCompound } from "./animals/keys-compound.ts";
import { keysMultiple } from "./animals/keys-multiple.ts";
import { keysNested } from "./animals/keys-nested.ts";
import { keysNonResolvable } from "./animals/keys-non-resolvable.ts";
import { requiresArguments } from "./animals/requires-arguments.ts";
import { requiresChained } from "./animals/requires-chained.ts";
import { requiresConflicting } from "./animals/requires-conflicting.ts";
import { requiresFragments } from "./animals/requires-fragments.ts";
import { requiresOnInterface } from "./animals/requires-on-interface.ts";
import { requiresSimple } from "./animals/requires-simple.ts";

export const animals: readonly Animal[] = [
  keysCompound,
  keysMultiple,
  keysNested,
  keysNonResolvable,
  requiresArguments,
  requiresChained,
  requiresConflicting,
  requiresFragments,
  requiresOnInterface,
  requiresSimple,
];
