// Stage 1 of 5: admit. Decides whether an overloaded gateway serves an operation, after its parameters are read and before it is executed.
import type { Admission } from "@tributary/kit/admission/admission";
import { lowerByPriorityHeader, type PriorityClass } from "@tributary/kit/admission/priority";
import type { GatewayExchange } from "./exchange.ts";

export interface OperationAdmission {
  /** For an admitted request, `leave` must be called. @param declared `normal` for a document that is not in the operation store. */
  enter(exchange: GatewayExchange, declared: PriorityClass): boolean | Promise<boolean>;
  leave(exchange: GatewayExchange): void;
}

export function createOperationAdmission(admission: Admission): OperationAdmission {
  return {
    enter({ request: { headers }, caller, endsAtMs }, declared) {
      const priority = lowerByPriorityHeader(declared, headers["priority"]);
      return admission.enter(priority, caller?.key ?? "", endsAtMs);
    },
    leave: ({ caller, documentCpuMs, resultCpuMs }) => admission.leave(caller?.key ?? "", documentCpuMs + resultCpuMs),
  };
}
