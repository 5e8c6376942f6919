import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { type Aliases, operationsOf } from "./generate-operations.ts";
import type { LiveAnimal, Operation } from "./start-animal.ts";

export interface DifferentialOptions {
  readonly operationCount: number;
  readonly seed: number;
  readonly aliases: Aliases;
  /** False: the first operation that is answered differently, not the smallest. */
  readonly shrink?: boolean;
  readonly argumentValues?: Readonly<Record<string, readonly unknown[]>> | undefined;
}

/** An operation that the gateway answers differently from the monolith. */
export interface Difference {
  readonly operation: Operation;
  readonly gateway: unknown;
  readonly monolith: unknown;
}

/** Asks gateway and monolith so many generated operations, and compares `data`; undefined when all are equal. */
export async function findDifference(animal: LiveAnimal, o: DifferentialOptions): Promise<Difference | undefined> {
  const operations = operationsOf(animal.schema, { aliases: o.aliases, argumentValues: o.argumentValues ?? {} });
  const property = fc.asyncProperty(operations, async (operation) => (await compare(animal, operation)) === undefined);
  const { counterexample } = await fc.check(property, {
    numRuns: o.operationCount,
    seed: o.seed,
    endOnFailure: o.shrink === false,
  });
  return counterexample ? compare(animal, counterexample[0]) : undefined;
}

async function compare(animal: LiveAnimal, operation: Operation): Promise<Difference | undefined> {
  const gateway = await animal.ask(operation).then(({ data }) => data, String);
  const monolith = await animal.askMonolith(operation);
  return isDeepStrictEqual(gateway, monolith) ? undefined : { operation, gateway, monolith };
}
