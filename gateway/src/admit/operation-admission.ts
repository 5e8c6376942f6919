// Stage 1 of 5: admit. Decides whether an overloaded gateway serves an operation. Both paths call it during stage 2, between the look-up of the
// document and its validation, because the operation decides the priority.
import type { Admission } from "@tributary/kit/admission/admission";
import { lowerByPriorityHeader, type PriorityClass } from "@tributary/kit/admission/priority";
import type { GatewayExchange } from "./exchange.ts";

export interface OperationAdmission {
  /**
   * Called after the caller is identified. For an admitted request, the caller of this function must also call `leave`.
   * @param declared the priority class of the operation; `normal` for a document that is not in the operation store.
   * @returns whether the request is served; a promise only while the gateway is saturated.
   */
  enter(exchange: GatewayExchange, declared: PriorityClass): boolean | Promise<boolean>;
  leave(exchange: GatewayExchange): void;
}

export function createOperationAdmission(admission: Admission): OperationAdmission {
  return {
    enter({ request, caller }, declared) {
      const priority = lowerByPriorityHeader(declared, request.headers["priority"]);
      return admission.enter(priority, caller?.key ?? "");
    },
    leave: ({ caller, documentCpuMs, resultCpuMs }) => admission.leave(caller?.key ?? "", documentCpuMs + resultCpuMs),
  };
}
