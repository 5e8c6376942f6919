// All verifications, in the order in which `npm run verify` without a name lists them. scripts/verify.ts runs one by its name.
import type { Verification } from "./verification.ts";
import { cache } from "./checks/cache/cache.ts";
import { chaos } from "./checks/chaos/chaos.ts";
import { compose } from "./checks/compose/compose.ts";
import { openapi } from "./checks/openapi/openapi.ts";
import { overload } from "./checks/overload/overload.ts";
import { resilience } from "./checks/resilience/resilience.ts";

export const verifications: readonly Verification[] = [chaos, cache, resilience, overload, compose, openapi];
